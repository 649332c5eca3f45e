package gitobj

import (
	"bytes"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// MaxTreeBytes bounds one tree object.
const MaxTreeBytes = 256 << 20

// Entries returns the entries of one tree object in the order they are recorded, after checking its id.
func Entries(from Getter, id plumbing.Hash) ([]object.TreeEntry, error) {
	raw, err := Content(from, plumbing.TreeObject, id, MaxTreeBytes)
	if err != nil {
		return nil, err
	}
	if plumbing.ComputeHash(plumbing.TreeObject, raw) != id {
		return nil, Corrupt(id)
	}
	var entries []object.TreeEntry
	for len(raw) > 0 {
		mode, rest, ok := bytes.Cut(raw, []byte{' '})
		name, rest, ok2 := bytes.Cut(rest, []byte{0})
		if !ok || !ok2 || len(rest) < len(plumbing.ZeroHash) {
			return nil, fmt.Errorf("object %s is corrupt: malformed tree", id)
		}
		// go-git's decoder would give an entry of an unknown mode that of a submodule, and hide what is to be refused.
		m, err := filemode.New(string(mode))
		if err != nil {
			return nil, fmt.Errorf("object %s is corrupt: %w", id, err)
		}
		e := object.TreeEntry{Name: string(name), Mode: m}
		raw = rest[copy(e.Hash[:], rest):]
		entries = append(entries, e)
	}
	return entries, nil
}

// currentEntries returns the entries of a tree with the modes git writes today; the zero id is the empty tree. Old versions
// of git recorded 100664 and the like, which an index turns into 100644 or 100755.
func currentEntries(st storer.EncodedObjectStorer, id plumbing.Hash) ([]object.TreeEntry, error) {
	if id.IsZero() {
		return nil, nil
	}
	entries, err := Entries(st, id)
	if err != nil {
		return nil, err
	}
	for i := range entries {
		entries[i].Mode = CurrentMode(entries[i].Mode)
	}
	return entries, nil
}

// CurrentMode is the mode that git writes today for one that older versions wrote for a regular file.
func CurrentMode(m filemode.FileMode) filemode.FileMode {
	switch {
	case m&^0o7777 != filemode.Regular&^0o7777:
		return m
	case m&0o100 != 0:
		return filemode.Executable
	}
	return filemode.Regular
}

// EntriesByName returns the entries of a tree with the modes git writes today; the zero id is the empty tree.
func EntriesByName(st storer.EncodedObjectStorer, id plumbing.Hash) (map[string]object.TreeEntry, error) {
	entries, err := currentEntries(st, id)
	if err != nil {
		return nil, err
	}
	names := make(map[string]object.TreeEntry, len(entries))
	for _, e := range entries {
		names[e.Name] = e
	}
	return names, nil
}
