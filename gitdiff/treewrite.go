package gitdiff

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// errTreeEntry says that an entry must not be in a tree that reaches a user's repository.
var errTreeEntry = errors.New("invalid tree entry")

// writeTree stores the tree of entries, in any order, and returns its id. A tree whose id is known already is not written.
func writeTree(st storer.EncodedObjectStorer, entries []object.TreeEntry, known plumbing.Hash) (plumbing.Hash, error) {
	sort.Sort(object.TreeEntrySorter(entries))
	for i, e := range entries {
		if err := checkEntry(e); err != nil {
			return plumbing.ZeroHash, err
		}
		if i > 0 && entries[i-1].Name == e.Name { //nolint:gosec // i is not 0
			return plumbing.ZeroHash, fmt.Errorf("%w: %q twice", errTreeEntry, e.Name)
		}
	}
	obj := st.NewEncodedObject()
	if err := (&object.Tree{Entries: entries}).Encode(obj); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("encode tree: %w", err)
	}
	if obj.Hash() == known {
		return known, nil
	}
	id, err := st.SetEncodedObject(obj)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("write tree: %w", err)
	}
	return id, nil
}

// checkEntry refuses what git fsck refuses in a tree: modes, names with separators, and names like .git.
func checkEntry(e object.TreeEntry) error {
	switch e.Mode {
	case filemode.Regular, filemode.Executable, filemode.Symlink, filemode.Dir, filemode.Submodule:
	default:
		return fmt.Errorf("%w: %q has mode %o", errTreeEntry, e.Name, uint32(e.Mode))
	}
	if e.Name == "" || e.Name == "." || e.Name == ".." || strings.ContainsAny(e.Name, "/\x00") || isDotGit(e.Name) {
		return fmt.Errorf("%w: name %q", errTreeEntry, e.Name)
	}
	if e.Mode == filemode.Symlink && isDotGitmodules(e.Name) {
		return fmt.Errorf("%w: %q is a link", errTreeEntry, e.Name)
	}
	return nil
}

// currentEntries returns the entries of a tree with the modes git writes today; the zero id is the empty tree. Old versions
// of git recorded 100664 and the like, which an index turns into 100644 or 100755.
func currentEntries(st storer.EncodedObjectStorer, id plumbing.Hash) ([]object.TreeEntry, error) {
	if id.IsZero() {
		return nil, nil
	}
	entries, err := treeEntries(st, id)
	if err != nil {
		return nil, err
	}
	for i := range entries {
		entries[i].Mode = currentMode(entries[i].Mode)
	}
	return entries, nil
}

func currentMode(m filemode.FileMode) filemode.FileMode {
	switch {
	case m&^0o7777 != regular:
		return m
	case m&0o100 != 0:
		return filemode.Executable
	}
	return filemode.Regular
}
