package change

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
	maxLikenessFiles = 200      // deleted, and added, paths; above, only equal contents count
	maxLikenessBytes = 1 << 20  // of one file
	maxLikenessTotal = 16 << 20 // of all files together; above, only equal contents count
	minLikeness      = 60       // percent, as in go-git
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
	gone, come = directoryRenames(gone, come)
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
	type source struct {
		id   plumbing.Hash
		kind filemode.FileMode
		name string // last name, "" for any
	}
	// Each source is in two queues and is taken from the front of one. A box may leave very many paths of one content, so
	// none of them is passed over more than twice.
	queues := map[source][]*Change{}
	for _, c := range gone {
		if c.old.id != emptyBlob {
			for _, name := range []string{path.Base(c.Name), ""} {
				key := source{c.old.id, c.old.kind(), name}
				queues[key] = append(queues[key], c)
			}
		}
	}
	used := map[*Change]bool{}
	pair := func(c *Change, name string) {
		key := source{c.new.id, c.new.kind(), name}
		queue := queues[key]
		for len(queue) > 0 && used[queue[0]] {
			queue = queue[1:]
		}
		if len(queue) > 0 {
			c.renamedFrom(queue[0].Name)
			used[c], used[queue[0]] = true, true
			queue = queue[1:]
		}
		queues[key] = queue
	}
	for _, c := range come {
		pair(c, path.Base(c.Name))
	}
	for _, c := range come {
		if !used[c] {
			pair(c, "")
		}
	}
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
	total := 0
	var changes object.Changes
	byName := map[string]*Change{}
	for _, c := range gone {
		if c.comparable(c.old) {
			total += c.textBytes
			changes = append(changes, &object.Change{From: entry(c, c.old)})
		}
	}
	for _, c := range come {
		if c.comparable(c.new) {
			total += c.textBytes
			changes = append(changes, &object.Change{To: entry(c, c.new)})
			byName[c.Name] = c
		}
	}
	if total > maxLikenessTotal {
		return nil
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
