package gitobj

import (
	"context"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Delta is what has to be laid over the files of one tree to get those of another.
type Delta struct {
	Files  []File   // to be written; a submodule stands for an empty directory
	Gone   []string // to be hidden: files, and directories with all they hold
	Opaque []string // of the files above, the directories that hide one with content
}

// DeltaOf compares two trees. Equal subtrees are not read, so that the cost follows the difference.
func DeltaOf(ctx context.Context, from Getter, before, after plumbing.Hash) (*Delta, error) {
	d := &differ{lister: lister{from: from, seen: map[plumbing.Hash]bool{}, out: &Listing{Root: after}}}
	if err := d.compare(ctx, before, after, "", 0); err != nil {
		return nil, err
	}
	d.delta.Files = d.out.Files
	return &d.delta, nil
}

// differ collects a delta; the lister in it adds what is new.
type differ struct {
	lister
	delta Delta
}

// compare compares two versions of the directory dir, which is "" or ends with a slash.
func (d *differ) compare(ctx context.Context, before, after plumbing.Hash, dir string, depth int) error {
	if before == after {
		return context.Cause(ctx)
	}
	entries, err := Entries(d.from, before)
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
		if existed && was.Hash == e.Hash && FileMode(was.Mode) == FileMode(e.Mode) {
			continue
		}
		if err := d.entry(ctx, was, e, dir, depth); err != nil {
			return err
		}
	}
	for name := range old {
		d.delta.Gone = append(d.delta.Gone, dir+name)
	}
	return nil
}

// entry adds one entry that is new or differs; was has no name when it is new.
func (d *differ) entry(ctx context.Context, was object.TreeEntry, e *object.TreeEntry, dir string, depth int) error {
	path := dir + e.Name
	wasDir := was.Name != "" && was.Mode == filemode.Dir
	switch {
	case e.Mode == filemode.Dir && wasDir:
		return d.compare(ctx, was.Hash, e.Hash, path+"/", depth+1)
	case e.Mode == filemode.Submodule && was.Name != "" && was.Mode == filemode.Submodule:
		return nil // an empty directory either way
	case e.Mode == filemode.Submodule && wasDir:
		d.delta.Opaque = append(d.delta.Opaque, path)
	}
	return d.take(ctx, e, dir, depth)
}
