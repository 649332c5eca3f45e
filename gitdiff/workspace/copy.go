package workspace

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"sandboxrun/gitdiff/capture"
	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/sys/unix"
)

// makeCopy makes a workspace hold every file of tree. Those that are the base's are copied from there, sharing blocks
// where the file system can, but never a file: a box must not be able to change the base.
func makeCopy(ctx context.Context, w *Workspace, tree plumbing.Hash, own owner) error {
	if err := privateDir(w.root, own); err != nil {
		return err
	}
	d, err := gitobj.DeltaOf(ctx, w.objects.Storer(), w.baseTree, tree)
	if err != nil {
		return err
	}
	if w.spec.Over != nil {
		c := &checkout{from: w.objects.Storer(), owner: own, mtime: func(*gitobj.File) time.Time { return time.Time{} }}
		if err := c.run(ctx, w.root, d.Files, true); err != nil {
			return err
		}
		return fill(ctx, w, d, own)
	}
	l, err := gitobj.List(ctx, w.objects.Storer(), tree)
	if err != nil {
		return err
	}
	changed := make(map[string]bool, len(d.Files))
	for i := range d.Files {
		changed[d.Files[i].Path] = true
	}
	w.stat = capture.NewStats(len(l.Files))
	source := &copySource{dir: w.base.treeDir()}
	c := &checkout{
		from: w.objects.Storer(), owner: own,
		mtime: func(f *gitobj.File) time.Time {
			if changed[f.Path] {
				return time.Time{}
			}
			return w.base.MTime
		},
		clone: func(f *gitobj.File, to *os.File) (bool, error) {
			if changed[f.Path] {
				return false, nil
			}
			return true, source.copy(f.Path, to)
		},
		wrote: func(i int, st *unix.Stat_t) {
			if f := &l.Files[i]; !changed[f.Path] {
				w.stat.Record(f.Path, st)
			}
		},
	}
	if err := c.run(ctx, w.root, l.Files, false); err != nil {
		return err
	}
	w.stat.End(time.Now())
	return nil
}

// copySource copies files of a base.
type copySource struct {
	dir   string
	plain atomic.Bool // the file system cannot share blocks
}

func (s *copySource) copy(path string, to *os.File) (err error) {
	from, err := os.OpenFile(filepath.Join(s.dir, path), os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	if !s.plain.Load() {
		if unix.IoctlFileClone(int(to.Fd()), int(from.Fd())) == nil {
			return nil
		}
		s.plain.Store(true)
	}
	_, err = io.Copy(to, from)
	return err
}
