// Package dirty reads the uncommitted state of a user's working tree.
package dirty

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/index"
)

// maxDirtyNames bounds [State.Names].
const maxDirtyNames = 10

// State says in which ways a work tree differs from its HEAD. Bytes are compared as they are: a file that git would
// convert (line endings, LFS) counts as modified once its time or size no longer are those in the index.
type State struct {
	Unknown   string   // why it cannot be determined, such as an index format; empty when the rest is right
	Staged    int      // index entries that are not HEAD's
	Modified  int      // tracked files whose content or mode is not the index's
	Deleted   int      // tracked files that are not there
	Untracked int      // files that are neither tracked nor ignored; a nested repository counts once
	Names     []string // the first few of all these paths, sorted
}

// Clean reports whether the work tree is known to be what HEAD records.
func (d State) Clean() bool {
	return d.Unknown == "" && d.Staged+d.Modified+d.Deleted+d.Untracked == 0
}

// Text says in words what differs, "" when nothing does.
func (d State) Text() string {
	if d.Unknown != "" {
		return "it is not known whether there are any: " + d.Unknown
	}
	if d.Clean() {
		return ""
	}
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{d.Staged, "staged"}, {d.Modified, "modified"}, {d.Deleted, "deleted"}, {d.Untracked, "untracked"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return strings.ToValidUTF8(strings.Join(parts, ", ")+" ("+strings.Join(d.Names, ", ")+")", "\ufffd")
}

// Read compares HEAD, the index and the files of the work tree, without changing any. A bare repository is clean.
func Read(ctx context.Context, r *gitdiff.Repo) (State, error) {
	if r.Bare() {
		return State{}, nil
	}
	d := &dirtCounter{}
	err := d.count(ctx, r)
	if reason := (*unknown)(nil); errors.As(err, &reason) {
		return State{Unknown: reason.reason}, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("find uncommitted changes: %w", err)
	}
	slices.Sort(d.names)
	names := slices.Compact(d.names)
	d.dirt.Names = names[:min(len(names), maxDirtyNames)]
	return d.dirt, nil
}

// dirtCounter is a work tree visitor that counts.
type dirtCounter struct {
	dirt  State
	names []string
}

func (d *dirtCounter) count(ctx context.Context, r *gitdiff.Repo) error {
	idx, err := readIndex(r.GitDir())
	if err != nil {
		return err
	}
	if err := d.staged(ctx, r, idx); err != nil {
		return err
	}
	return walkWorkTree(ctx, r, idx, d)
}

// note counts one path; the names are cut down now and then, so that they stay few.
func (d *dirtCounter) note(counter *int, path string) {
	*counter++
	if d.names = append(d.names, path); len(d.names) >= 100*maxDirtyNames {
		slices.Sort(d.names)
		d.names = slices.Compact(d.names)
		d.names = d.names[:min(len(d.names), maxDirtyNames)]
	}
}

// staged counts where the index is not HEAD; both are sorted by path.
func (d *dirtCounter) staged(ctx context.Context, r *gitdiff.Repo, idx *workIndex) error {
	head := &gitobj.Listing{}
	c, err := r.Resolve(ctx, "HEAD")
	if err == nil {
		head, err = gitobj.List(ctx, r, plumbing.NewHash(c.Tree))
	}
	if bad := (*gitobj.TreeError)(nil); errors.As(err, &bad) {
		return &unknown{bad.Error()}
	}
	if err != nil && !errors.Is(err, gitdiff.ErrUnborn) {
		return err
	}
	left := make(map[string]*index.Entry, len(idx.entries))
	for path, e := range idx.entries {
		if !e.IntentToAdd {
			left[path] = e
		}
	}
	for i := range head.Files {
		f := &head.Files[i]
		if e := left[f.Path]; e == nil || e.Hash != f.Hash || gitobj.FileMode(e.Mode) != f.Mode {
			d.note(&d.dirt.Staged, f.Path)
		}
		delete(left, f.Path)
	}
	for path := range left {
		d.note(&d.dirt.Staged, path)
	}
	return nil
}

func (d *dirtCounter) same(*index.Entry) error { return nil }

func (d *dirtCounter) gone(e *index.Entry) error {
	d.note(&d.dirt.Deleted, e.Name)
	return nil
}

func (d *dirtCounter) tracked(e *index.Entry, f *workFile) error {
	id, err := f.id()
	if err == nil && id == e.Hash && f.mode == gitobj.FileMode(e.Mode) && e.Stage == merged {
		return nil
	}
	if e.IntentToAdd {
		d.note(&d.dirt.Untracked, e.Name)
		return err
	}
	d.note(&d.dirt.Modified, e.Name)
	return err
}

func (d *dirtCounter) untracked(f *workFile) error {
	d.note(&d.dirt.Untracked, f.path)
	return nil
}

func (d *dirtCounter) nested(path string) error {
	d.note(&d.dirt.Untracked, path+"/")
	return nil
}
