package gitobj

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/storage/memory"
)

// treeOf stores a tree of files, each given as "path=content".
func treeOf(t *testing.T, st *memory.Storage, files string) plumbing.Hash {
	t.Helper()
	var list []File
	for f := range strings.FieldsSeq(files) {
		path, content, _ := strings.Cut(f, "=")
		blob := st.NewEncodedObject()
		blob.SetType(plumbing.BlobObject)
		w, err := blob.Writer()
		if err == nil {
			_, err = w.Write([]byte(content))
		}
		id, serr := st.SetEncodedObject(blob)
		if err := errors.Join(err, serr); err != nil {
			t.Fatal(err)
		}
		list = append(list, File{Path: path, Mode: filemode.Regular, Hash: id})
	}
	slices.SortFunc(list, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	id, err := WriteTrees(st, list, "")
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestRestoredPathsAreThoseOfTheOtherTree(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ before, tree, paths, want string }{
		"changed":                       {"t/a=1 t/b=1 x=1", "t/a=2 t/b=2 x=2", "t/a", "t/a=1 t/b=2 x=2"},
		"deleted":                       {"t/a=1 x=1", "x=2", "t/a", "t/a=1 x=2"},
		"added":                         {"x=1", "t/deep/a=2 x=2", "t/deep/a", "x=2"},
		"added beside others":           {"t/b=1", "t/a=2 t/b=2", "t/a", "t/b=2"},
		"a directory became a file":     {"t/a=1 t/b=1 x=1", "t=2 x=2", "t/a", "t/a=1 x=2"},
		"a file became a directory":     {"t=1 x=1", "t/a=2 t/b=2 x=2", "t t/a", "t=1 x=2"},
		"a file became, not protected":  {"t=1 x=1", "t/a=2 t/b=2 x=2", "t/a", "t/b=2 x=2"},
		"both, protected as one":        {"t/a=1 t/b=1", "t=2", "t t/a t/b", "t/a=1 t/b=1"},
		"nothing":                       {"t=1", "t=2", "", "t=2"},
		"names that begin alike":        {"a.b=1 a/b=1 a0=1", "a.b=2 a/b=2 a0=2", "a/b", "a.b=2 a/b=1 a0=2"},
		"all of a tree":                 {"t/a=1", "u=2", "t/a u", "t/a=1"},
		"another directory in its way":  {"t/a/b=1", "t/a=2 t/c=2", "t/a/b", "t/a/b=1 t/c=2"},
		"a path that neither tree has":  {"t/a=1", "t/a=2", "z/z", "t/a=2"},
		"renamed: both names protected": {"old=1", "new=1", "old new", "old=1"},
	} {
		st := memory.NewStorage()
		got, err := Restore(t.Context(), st, treeOf(t, st, tc.tree), treeOf(t, st, tc.before), strings.Fields(tc.paths))
		if want := treeOf(t, st, tc.want); err != nil || got != want {
			l, lerr := List(t.Context(), st, got)
			t.Errorf("%s: %+v, want %s, errors %v, %v", name, l, tc.want, err, lerr)
		}
	}
	st := memory.NewStorage()
	var missing *MissingError
	if _, err := Restore(t.Context(), st, plumbing.NewHash(strings.Repeat("1", 40)), plumbing.ZeroHash, []string{"a"}); !errors.As(err, &missing) {
		t.Errorf("a tree that is not there: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Restore(ctx, st, plumbing.ZeroHash, plumbing.ZeroHash, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}
