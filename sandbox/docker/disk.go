package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"sandboxrun/sandbox"
)

const (
	// diskTick is the pause between two looks at the free space, which are cheap.
	diskTick = 250 * time.Millisecond
	// diskRest is how many times its own duration a walk is followed by none,
	// unless the filesystem loses space quickly.
	diskRest = 10
	// diskRestMax bounds that rest.
	diskRestMax = 5 * time.Second
	// diskShare of a limit lost by the filesystem calls for a walk at once.
	diskShare = 16
	// diskFailures is how many failed walks in a row are forgiven. A tree that
	// cannot be measured cannot be limited.
	diskFailures = 3
)

// disk watches how much the tree grows. The files of a box may be anywhere in
// it, so its own directory is summed: the upper layer of an overlay, else all of
// the tree. What is deleted but still open is not in the sum; the floor for free
// space, and the limit on the size of a file, bound that.
type disk struct {
	root   *os.File
	limits sandbox.Limits

	ready    chan struct{} // closed when start and failed are known
	start    usage
	failed   error
	measures sync.Mutex // one walk at a time
}

// watchDisk begins with measuring the tree as it is; measured waits for that.
func (b *box) watchDisk(t sandbox.Tree, l sandbox.Limits) {
	d := &b.disk
	d.limits, d.ready = l, make(chan struct{})
	b.work.Go(func() {
		d.root, d.failed = openDir(cmp.Or(t.Dir, t.Upper))
		var cost time.Duration
		if d.failed == nil {
			defer d.root.Close()
			begin := time.Now()
			d.start, d.failed = measure(b.life, d.root, usage{})
			cost = time.Since(begin)
		}
		if d.failed == nil {
			d.failed = d.checkFree()
		}
		close(d.ready)
		if d.failed == nil {
			d.watch(b, cost)
		}
		// A walk that check asked for may still use the directory.
		d.measures.Lock()
		defer d.measures.Unlock()
	})
}

// measured waits until the tree has been measured. When that failed, or the
// host has too little space to begin with, it returns why.
func (d *disk) measured(ctx context.Context) error {
	select {
	case <-d.ready:
		return d.failed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// watch looks at the free space at every tick, and walks the tree when the last
// walk has been rested from or the space goes down quickly.
func (d *disk) watch(b *box, cost time.Duration) {
	last, next, failures := d.free(), time.Now(), 0
	for {
		wait(b.life, diskTick)
		if b.life.Err() != nil {
			return
		}
		if err := d.checkFree(); err != nil {
			b.end(err)
			return
		}
		free, now := d.free(), time.Now()
		hurry := last.bytes-free.bytes > d.limits.DiskBytes/diskShare || last.inodes-free.inodes > d.limits.DiskInodes/diskShare
		if now.Before(next) && !(hurry && now.After(next.Add(-rest(cost)+2*cost))) {
			continue
		}
		err := d.check(b)
		cost, last = time.Since(now), free
		next = time.Now().Add(rest(cost))
		if err == nil {
			failures = 0
		} else if failures++; failures == diskFailures {
			b.end(fmt.Errorf("measure the tree: %w", err))
		}
	}
}

func rest(cost time.Duration) time.Duration { return min(diskRest*cost, diskRestMax) }

// check walks the tree now and ends the box when it has grown too much.
func (d *disk) check(b *box) error {
	d.measures.Lock()
	defer d.measures.Unlock()
	if b.life.Err() != nil {
		return nil
	}
	allowed := usage{bytes: d.start.bytes + d.limits.DiskBytes, inodes: d.start.inodes + d.limits.DiskInodes}
	now, err := measure(b.life, d.root, allowed)
	var detail string
	switch {
	case errors.Is(err, errDeep):
		detail = err.Error()
	case now.bytes > allowed.bytes:
		detail = fmt.Sprintf("the tree grew by more than %d bytes", d.limits.DiskBytes)
	case now.inodes > allowed.inodes:
		detail = fmt.Sprintf("the tree grew by more than %d files", d.limits.DiskInodes)
	default:
		return err
	}
	b.end(&sandbox.LimitError{Limit: sandbox.LimitDisk, Detail: detail})
	return nil
}

// free is what the filesystem of the tree has left.
func (d *disk) free() usage {
	var s unix.Statfs_t
	if err := unix.Fstatfs(int(d.root.Fd()), &s); err != nil {
		return usage{}
	}
	return usage{bytes: int64(s.Bavail) * s.Bsize, inodes: int64(s.Ffree)}
}

func (d *disk) checkFree() error {
	if free := d.free().bytes; free < d.limits.FreeBytes {
		return &sandbox.LimitError{
			Limit:  sandbox.LimitDisk,
			Detail: fmt.Sprintf("the host has %d bytes free, less than the %d it must keep", free, d.limits.FreeBytes),
		}
	}
	return nil
}
