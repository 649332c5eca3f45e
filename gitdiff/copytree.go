package gitdiff

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/sys/unix"
)

// makeCopy makes a workspace hold every file of tree. Those that are the base's are copied from there, sharing blocks
// where the file system can, but never a file: a box must not be able to change the base.
func makeCopy(ctx context.Context, w *Workspace, tree plumbing.Hash, own owner) error {
	if err := privateDir(w.root, own); err != nil {
		return err
	}
	l, err := list(ctx, w.objects.st, tree)
	if err != nil {
		return err
	}
	d, err := deltaOf(ctx, w.objects.st, w.baseTree, tree)
	if err != nil {
		return err
	}
	changed := make(map[string]bool, len(d.files))
	for i := range d.files {
		changed[d.files[i].path] = true
	}
	w.stat = &statCache{entries: make(map[string]statKey, len(l.files))}
	var mu sync.Mutex
	source := &copySource{dir: w.lower}
	c := &checkout{
		from: w.objects.st, owner: own,
		mtime: func(f *listed) time.Time {
			if changed[f.path] {
				return time.Time{}
			}
			return w.base.MTime
		},
		clone: func(f *listed, to *os.File) (bool, error) {
			if changed[f.path] {
				return false, nil
			}
			return true, source.copy(f.path, to)
		},
		wrote: func(i int, st *unix.Stat_t) {
			if f := &l.files[i]; !changed[f.path] {
				mu.Lock()
				defer mu.Unlock()
				w.stat.entries[f.path] = newStatKey(st)
			}
		},
	}
	if err := c.run(ctx, w.root, l.files, false); err != nil {
		return err
	}
	w.stat.taken = time.Now().UnixNano()
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
