package gitdiff

import (
	"context"
	"fmt"
	"path"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Bounds of looking for renames by likeness.
const (
	maxLikenessFiles = 200     // deleted, and added, paths; above, only equal contents count
	maxLikenessBytes = 1 << 20 // of one file
	minLikeness      = 60      // percent, as in go-git
)

// findRenames names for added paths the deleted ones they came from: first by equal content, then by likeness.
func (d *Diff) findRenames(ctx context.Context) error {
	var gone, come []*Change
	for i := range d.Changes {
		switch c := &d.Changes[i]; {
		case c.Type == Deleted && c.old.mode != filemode.Submodule:
			gone = append(gone, c)
		case c.Type == Added && c.new.mode != filemode.Submodule:
			come = append(come, c)
		}
	}
	gone, come = equalRenames(gone, come)
	if len(gone) == 0 || len(come) == 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return d.likeRenames(gone, come)
}

// emptyBlob is the content of every empty file: it says nothing about where a file came from.
var emptyBlob = plumbing.ComputeHash(plumbing.BlobObject, nil)

// equalRenames pairs paths with equal content, those of the same last name first, and returns the rest.
func equalRenames(gone, come []*Change) (goneLeft, comeLeft []*Change) {
	byID := map[plumbing.Hash][]*Change{}
	for _, c := range gone {
		if c.old.id != emptyBlob {
			byID[c.old.id] = append(byID[c.old.id], c)
		}
	}
	used := map[*Change]bool{}
	pair := func(sameName bool) {
		for _, c := range come {
			for i, from := range byID[c.new.id] {
				if used[c] || from.old.kind() != c.new.kind() || sameName && path.Base(from.Name) != path.Base(c.Name) {
					continue
				}
				c.renamedFrom(from.Name)
				used[c], used[from] = true, true
				byID[c.new.id] = append(byID[c.new.id][:i:i], byID[c.new.id][i+1:]...)
				break
			}
		}
	}
	pair(true)
	pair(false)
	return unused(gone, used), unused(come, used)
}

func unused(all []*Change, used map[*Change]bool) (left []*Change) {
	for _, c := range all {
		if !used[c] {
			left = append(left, c)
		}
	}
	return left
}

// likeRenames pairs texts that resemble each other, by go-git's measure.
func (d *Diff) likeRenames(gone, come []*Change) error {
	if len(gone) > maxLikenessFiles || len(come) > maxLikenessFiles {
		return nil
	}
	empty := new(plumbing.MemoryObject)
	empty.SetType(plumbing.TreeObject)
	tree, err := object.DecodeTree(d.storer, empty) // only tells go-git where to read
	if err != nil {
		return fmt.Errorf("open objects: %w", err)
	}
	// The entry's own name plays no part here, and go-git refuses those Windows could not hold.
	entry := func(c *Change, s side) object.ChangeEntry {
		return object.ChangeEntry{
			Name: c.Name, Tree: tree, TreeEntry: object.TreeEntry{Name: "file", Mode: s.mode, Hash: s.id},
		}
	}
	var changes object.Changes
	byName := map[string]*Change{}
	for _, c := range gone {
		if c.comparable(c.old) {
			changes = append(changes, &object.Change{From: entry(c, c.old)})
		}
	}
	for _, c := range come {
		if c.comparable(c.new) {
			changes = append(changes, &object.Change{To: entry(c, c.new)})
			byName[c.Name] = c
		}
	}
	found, err := object.DetectRenames(changes, &object.DiffTreeOptions{
		DetectRenames: true, RenameScore: minLikeness, RenameLimit: maxLikenessFiles,
	})
	if err != nil {
		return fmt.Errorf("compare contents: %w", err)
	}
	for _, f := range found {
		if c := byName[f.To.Name]; c != nil && f.From.Name != "" {
			c.renamedFrom(f.From.Name)
		}
	}
	return nil
}

// comparable reports whether a file, on its only side, is worth a look for likeness.
func (c *Change) comparable(s side) bool {
	return !c.Binary && s.kind() == regular && c.textBytes > 0 && c.textBytes <= maxLikenessBytes
}
