package gitobj

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/memory"
)

// nested is a tree of levels of directories with width entries each, all the
// same one: a few objects that name width to the power of levels files.
func nested(t *testing.T, st *memory.Storage, levels, width int, name string) plumbing.Hash {
	t.Helper()
	id, mode := plumbing.NewHash("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"), filemode.Regular
	for range levels {
		entries := make([]object.TreeEntry, width)
		for i := range entries {
			entries[i] = object.TreeEntry{Name: string(rune('a'+i)) + name, Mode: mode, Hash: id}
		}
		var err error
		if id, err = WriteTree(st, entries, plumbing.ZeroHash); err != nil {
			t.Fatal(err)
		}
		mode = filemode.Dir
	}
	return id
}

func TestListBoundsTheBytesOfAllPaths(t *testing.T) {
	t.Parallel()
	st := memory.NewStorage()
	l, err := List(t.Context(), st, nested(t, st, 3, 20, "name"))
	if err != nil || len(l.Files) != 8000 || len(l.Trees) != 3 {
		t.Fatalf("a tree of 8000 files: %d files, %d trees, %v", len(l.Files), len(l.Trees), err)
	}
	_, err = List(t.Context(), st, nested(t, st, 15, 20, strings.Repeat("x", 240)))
	var refused *TreeError
	if !errors.As(err, &refused) || !strings.Contains(refused.Reason, "bytes of paths") {
		t.Errorf("a few objects that name paths of gigabytes: %.200v", err)
	}
}
