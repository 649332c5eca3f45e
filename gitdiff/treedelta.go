package gitdiff

import (
	"context"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// delta is what has to be laid over the files of one tree to get those of another.
type delta struct {
	files  []listed // to be written; a submodule stands for an empty directory
	gone   []string // to be hidden: files, and directories with all they hold
	opaque []string // of the files above, the directories that hide one with content
}

// deltaOf compares two trees. Equal subtrees are not read, so that the cost follows the difference.
func deltaOf(ctx context.Context, from objectGetter, before, after plumbing.Hash) (*delta, error) {
	d := &differ{lister: lister{from: from, seen: map[plumbing.Hash]bool{}, out: &listing{root: after}}}
	if err := d.compare(ctx, before, after, "", 0); err != nil {
		return nil, err
	}
	d.delta.files = d.out.files
	return &d.delta, nil
}

// differ collects a delta; the lister in it takes up what is new.
type differ struct {
	lister
	delta delta
}

// compare compares two versions of the directory dir, which is "" or ends with a slash.
func (d *differ) compare(ctx context.Context, before, after plumbing.Hash, dir string, depth int) error {
	if before == after {
		return context.Cause(ctx)
	}
	entries, err := treeEntries(d.from, before)
	if err != nil {
		return err
	}
	old := make(map[string]object.TreeEntry, len(entries))
	for _, e := range entries {
		old[e.Name] = e
	}
	entries, err = d.open(ctx, after, dir, depth)
	if err != nil {
		return err
	}
	for i := range entries {
		e := &entries[i]
		was, existed := old[e.Name]
		delete(old, e.Name)
		if existed && was.Hash == e.Hash && fileMode(was.Mode) == fileMode(e.Mode) {
			continue
		}
		if err := d.entry(ctx, was, e, dir, depth); err != nil {
			return err
		}
	}
	for name := range old {
		d.delta.gone = append(d.delta.gone, dir+name)
	}
	return nil
}

// entry takes up one entry that is new or differs; was has no name when it is new.
func (d *differ) entry(ctx context.Context, was object.TreeEntry, e *object.TreeEntry, dir string, depth int) error {
	path := dir + e.Name
	wasDir := was.Name != "" && was.Mode == filemode.Dir
	switch {
	case e.Mode == filemode.Dir && wasDir:
		return d.compare(ctx, was.Hash, e.Hash, path+"/", depth+1)
	case e.Mode == filemode.Submodule && was.Name != "" && was.Mode == filemode.Submodule:
		return nil // an empty directory either way
	case e.Mode == filemode.Submodule && wasDir:
		d.delta.opaque = append(d.delta.opaque, path)
	}
	return d.take(ctx, e, dir, depth)
}
