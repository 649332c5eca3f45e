package gitdiff

import (
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// checkOrder refuses a tree whose entries are not in git's order or that has a name twice, also once as a file and once as
// a directory (fsck's treeNotSorted and duplicateEntries).
func checkOrder(entries []object.TreeEntry) error {
	names := make(map[string]bool, len(entries))
	for i, e := range entries {
		if names[e.Name] {
			return fmt.Errorf("%w: %q twice", errTreeEntry, e.Name)
		}
		names[e.Name] = true
		if i > 0 && sortName(entries[i-1]) >= sortName(e) {
			return fmt.Errorf("%w: %q out of order", errTreeEntry, e.Name)
		}
	}
	return nil
}

// sortName is what git sorts an entry by: a directory counts as ending with a slash.
func sortName(e object.TreeEntry) string {
	if e.Mode == filemode.Dir {
		return e.Name + "/"
	}
	return e.Name
}

// checkEntry refuses a new entry that git fsck --strict refuses, by its name, its mode or what git would read from it.
func (s *landingSet) checkEntry(was, e object.TreeEntry) error {
	if err := checkEntry(e); err != nil {
		return err
	}
	if e.Hash.IsZero() {
		return fmt.Errorf("%w: %q names no object", errTreeEntry, e.Name)
	}
	if len(e.Name) > maxPath {
		return fmt.Errorf("%w: a name of %d bytes", errTreeEntry, len(e.Name))
	}
	var judge func(was, now string) []Finding
	switch {
	case !e.Mode.IsFile() || e.Mode == filemode.Symlink:
		return nil
	case isDotGitmodules(e.Name):
		judge = judgeModules
	case isDotGitattributes(e.Name):
		judge = judgeAttributes
	default:
		return nil
	}
	now, err := content(s.storer, plumbing.BlobObject, e.Hash, maxTextBytes)
	if err != nil {
		return err
	}
	var old []byte
	if was.Mode.IsRegular() {
		if old, err = content(s.storer, plumbing.BlobObject, was.Hash, maxTextBytes); err != nil {
			return err
		}
	}
	for _, f := range judge(string(old), string(now)) {
		if f.Grade == Refuse {
			return fmt.Errorf("%w: %q: %s", errTreeEntry, e.Name, f.Detail)
		}
	}
	return nil
}
