package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

const (
	checkoutWorkers = 4         // at most
	checkoutQueue   = 4         // batches read ahead for each writer
	batchFiles      = 16        // files of one batch
	batchBytes      = 256 << 10 // content of one batch, which one more file may exceed by streamedBytes
)

// checkout writes files of trees into a directory: raw blobs, no filters, no line endings, links and modes as recorded.
type checkout struct {
	from  gitobj.Getter
	owner owner
	mtime func(*gitobj.File) time.Time                    // modification time of a file, and of its directory; zero leaves it
	pack  *gitobj.PackWriter                              // gets every blob once; nil for none
	wrote func(i int, st *unix.Stat_t)                    // called for every file, concurrently; nil for none
	clone func(f *gitobj.File, to *os.File) (bool, error) // copies a file from elsewhere where it can; nil for none
}

// batch is some files of one directory: two writers in one directory would wait for each other in the kernel.
type batch struct {
	dir   *openedDir
	jobs  []job
	bytes int64
}

// job is one file to write.
type job struct {
	file  *gitobj.File
	index int                    // of the file in the list
	dir   int                    // descriptor of its directory
	blob  plumbing.EncodedObject // nil for a submodule, and for a file to be cloned
	pack  bool                   // the blob's first appearance
}

// run writes the files, which are in the order of an index, below the directory root. Directories are made as they are
// needed; with over set, those that exist are used.
func (c *checkout) run(ctx context.Context, root string, files []gitobj.File, over bool) error {
	top, err := openDir(unix.AT_FDCWD, root, c.owner, time.Time{})
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	workers := min(runtime.GOMAXPROCS(0), checkoutWorkers)
	batches := make(chan *batch, checkoutQueue*workers)
	group.Go(func() error {
		defer close(batches)
		return c.feed(ctx, top, files, over, batches)
	})
	for range workers {
		group.Go(func() error {
			for b := range batches {
				if err := c.writeBatch(b); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = group.Wait()
	for b := range batches { // only after a failure
		err = errors.Join(err, b.dir.done())
	}
	return err
}

func (c *checkout) writeBatch(b *batch) (err error) {
	defer func() { err = errors.Join(err, b.dir.done()) }()
	for _, j := range b.jobs {
		if err := c.write(j); err != nil {
			return fmt.Errorf("write %q: %w", j.file.Path, err)
		}
	}
	return nil
}

// feed opens the directory of each file, reads its blob, and hands both to the writers.
func (c *checkout) feed(ctx context.Context, top *openedDir, files []gitobj.File, over bool, batches chan<- *batch) (err error) {
	dirs := &dirStack{owner: c.owner, over: over, open: []*openedDir{top}}
	defer func() { err = errors.Join(err, dirs.leave(0)) }()
	var current *batch
	send := func() error {
		if current == nil {
			return nil
		}
		b := current
		current = nil
		select {
		case batches <- b:
			return nil
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), b.dir.done())
		}
	}
	packed := map[plumbing.Hash]bool{}
	for i := range files {
		f := &files[i]
		dir, err := dirs.enter(f.Path, c.mtime(f))
		if err != nil {
			return errors.Join(err, send())
		}
		if current != nil && (current.dir != dir || len(current.jobs) == batchFiles || current.bytes > batchBytes) {
			if err := send(); err != nil {
				return err
			}
		}
		if current == nil {
			current = &batch{dir: dir.use()}
		}
		j := job{file: f, index: i, dir: dir.fd}
		if f.Mode != filemode.Submodule && c.clone == nil {
			if j.blob, err = c.from.EncodedObject(plumbing.BlobObject, f.Hash); err != nil {
				return errors.Join(gitobj.ReadError(f.Hash, err), send())
			}
			j.pack = c.pack != nil && !packed[f.Hash]
			packed[f.Hash] = true
			current.bytes += min(j.blob.Size(), gitobj.StreamedBytes)
		}
		current.jobs = append(current.jobs, j)
	}
	return send()
}

// dirStack is the chain of open directories from the root to the current file's.
type dirStack struct {
	owner owner
	over  bool
	names []string     // of the directories below the root
	open  []*openedDir // the root, then one for each name
}

// enter opens the directory of a path, making what is missing of it, and leaves those that are not on its way.
func (s *dirStack) enter(path string, mtime time.Time) (*openedDir, error) {
	i := 0
	for {
		name, rest, deeper := strings.Cut(path, "/")
		if !deeper {
			return s.open[i], s.leave(i + 1)
		}
		if i == len(s.names) || s.names[i] != name {
			if err := s.leave(i + 1); err != nil {
				return nil, err
			}
			d, err := s.make(s.open[i].fd, name, mtime)
			if err != nil {
				return nil, err
			}
			s.names, s.open = append(s.names, name), append(s.open, d)
		}
		i, path = i+1, rest
	}
}

func (s *dirStack) make(parent int, name string, mtime time.Time) (*openedDir, error) {
	d, err := makeDir(parent, name, s.owner, mtime)
	if s.over && errors.Is(err, unix.EEXIST) {
		return openDir(parent, name, s.owner, mtime)
	}
	return d, err
}

// leave closes all but the first n directories.
func (s *dirStack) leave(n int) error {
	var err error
	for len(s.open) > n {
		last := len(s.open) - 1
		err = errors.Join(err, s.open[last].done())
		s.open = s.open[:last]
		s.names = s.names[:max(last-1, 0)]
	}
	return err
}
