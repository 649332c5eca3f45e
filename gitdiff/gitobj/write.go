package gitobj

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"sandboxrun/gitdiff/gitname"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// ErrTreeEntry says that an entry must not be in a tree that reaches a user's repository.
var ErrTreeEntry = errors.New("invalid tree entry")

// WriteTree stores the tree of entries, in any order, and returns its id. A tree whose id is known already is not written.
func WriteTree(st storer.EncodedObjectStorer, entries []object.TreeEntry, known plumbing.Hash) (plumbing.Hash, error) {
	sort.Sort(object.TreeEntrySorter(entries))
	for i, e := range entries {
		if err := CheckEntry(e); err != nil {
			return plumbing.ZeroHash, err
		}
		if i > 0 && entries[i-1].Name == e.Name {
			return plumbing.ZeroHash, fmt.Errorf("%w: %q twice", ErrTreeEntry, e.Name)
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

// CheckEntry refuses what git fsck refuses in a tree: modes, names with separators, and names like .git.
func CheckEntry(e object.TreeEntry) error {
	switch e.Mode {
	case filemode.Regular, filemode.Executable, filemode.Symlink, filemode.Dir, filemode.Submodule:
	default:
		return fmt.Errorf("%w: %q has mode %o", ErrTreeEntry, e.Name, uint32(e.Mode))
	}
	if e.Name == "" || e.Name == "." || e.Name == ".." || strings.ContainsAny(e.Name, "/\x00") || gitname.IsDotGit(e.Name) {
		return fmt.Errorf("%w: name %q", ErrTreeEntry, e.Name)
	}
	if e.Mode == filemode.Symlink && gitname.IsDotGitmodules(e.Name) {
		return fmt.Errorf("%w: %q is a link", ErrTreeEntry, e.Name)
	}
	return nil
}

// CheckOrder refuses a tree whose entries are not in git's order or that has a name twice, also once as a file and once as
// a directory (fsck's treeNotSorted and duplicateEntries).
func CheckOrder(entries []object.TreeEntry) error {
	names := make(map[string]bool, len(entries))
	for i, e := range entries {
		if names[e.Name] {
			return fmt.Errorf("%w: %q twice", ErrTreeEntry, e.Name)
		}
		names[e.Name] = true
		if i > 0 && sortName(entries[i-1]) >= sortName(e) {
			return fmt.Errorf("%w: %q out of order", ErrTreeEntry, e.Name)
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

// WriteTrees stores the trees of sorted files that all are below prefix, and returns the uppermost.
func WriteTrees(st storer.EncodedObjectStorer, files []File, prefix string) (plumbing.Hash, error) {
	var entries []object.TreeEntry
	for i := 0; i < len(files); {
		f := &files[i]
		name, _, deeper := strings.Cut(f.Path[len(prefix):], "/")
		if !deeper {
			entries = append(entries, object.TreeEntry{Name: name, Mode: f.Mode, Hash: f.Hash})
			i++
			continue
		}
		below := prefix + name + "/"
		end := i
		for end < len(files) && strings.HasPrefix(files[end].Path, below) {
			end++
		}
		id, err := WriteTrees(st, files[i:end], below)
		if err != nil {
			return id, err
		}
		entries = append(entries, object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: id})
		i = end
	}
	return WriteTree(st, entries, plumbing.ZeroHash)
}
