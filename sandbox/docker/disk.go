package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"sandboxrun/sandbox"
)

const (
	// diskTick is the pause between two checks of the free space, which are cheap.
	diskTick = 100 * time.Millisecond
	// diskRest is the pause after a walk, as a multiple of the walk's duration, unless the filesystem loses so much
	// space that the limit may be near.
	diskRest = 10
	// diskRestMax bounds that pause: with a walk it is less than two seconds, in trees that can be walked in one.
	diskRestMax = time.Second
	// diskFailures is how many failed walks in a row are tolerated. A tree that cannot be measured cannot be limited.
	diskFailures = 3
)

// watchDisk measures the tree as it is, then watches it; measured waits for the first measurement.
func (b *box) watchDisk(t sandbox.Tree, l sandbox.Limits) {
	d := &b.disk
	d.limits, d.ready, d.held = l, make(chan struct{}), b.counters.held
	b.work.Go(func() {
		d.root, d.failed = openDir(cmp.Or(t.Dir, t.Upper))
		if d.failed == nil {
			defer d.root.Close()
			begin := time.Now()
			d.startAt, d.device = d.free(), deviceOf(d.root)
			d.start, d.failed = measure(b.life, d.root, usage{})
			d.last = look{free: d.startAt, cost: time.Since(begin)}
		}
		if d.failed == nil && d.free().bytes < d.limits.FreeBytes {
			d.failed = d.floorError()
		}
		close(d.ready)
		if d.failed == nil {
			d.watch(b)
		}
		// A walk started by check may still use the directory.
		d.measures.Lock()
		defer d.measures.Unlock()
	})
}

// measured waits until the tree has been measured. When that failed, or the host has too little space to begin with,
// it returns the reason.
func (d *disk) measured(ctx context.Context) error {
	select {
	case <-d.ready:
		return d.failed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// watch checks the free space at every tick, and walks the tree when the pause after the last walk is over or the
// limit may be near.
func (d *disk) watch(b *box) {
	failures := 0
	for {
		wait(b.life, diskTick)
		if b.life.Err() != nil {
			return
		}
		low := d.free().bytes < d.limits.FreeBytes
		if !d.due(low) {
			continue
		}
		err := d.check(b)
		if low && b.life.Err() == nil && (err != nil || d.guilty()) {
			b.end(d.floorError())
			return
		}
		if err == nil {
			failures = 0
		} else if failures++; failures == diskFailures {
			b.end(fmt.Errorf("measure the tree: %w", err))
		}
	}
}

// due reports whether it is time for a walk: the pause after the last one is over, or the limit may be near, or the disk is low.
func (d *disk) due(low bool) bool {
	d.measures.Lock()
	defer d.measures.Unlock()
	now := time.Now()
	return !now.Before(d.last.next) || (low || d.near()) && now.After(d.last.next.Add(2*d.last.cost-d.last.rest()))
}

// near reports whether the filesystem has lost so much since the last walk that the tree may have used up half of its
// remaining allowance.
func (d *disk) near() bool {
	free := d.free()
	lost := usage{bytes: d.last.free.bytes - free.bytes, inodes: d.last.free.inodes - free.inodes}
	return 2*lost.bytes > d.limits.DiskBytes-d.last.grown.bytes || 2*lost.inodes > d.limits.DiskInodes-d.last.grown.inodes
}

// rest is the pause after a walk.
func (l look) rest() time.Duration { return min(diskRest*l.cost, diskRestMax) }

// check walks the tree now and ends the box when it has grown too much.
func (d *disk) check(b *box) error {
	d.measures.Lock()
	defer d.measures.Unlock()
	if b.life.Err() != nil {
		return nil
	}
	begin := time.Now()
	l := look{free: d.free()}
	now, err := measure(b.life, d.root, usage{bytes: d.start.bytes + d.limits.DiskBytes, inodes: d.start.inodes + d.limits.DiskInodes})
	if errors.Is(err, errDeep) {
		b.end(&sandbox.LimitError{Limit: sandbox.LimitDisk, Which: sandbox.MeasureTreeDepth, Allowed: maxDepth, Measured: maxDepth + 1, Detail: err.Error()})
		return nil
	}
	l.grown = usage{bytes: now.bytes - d.start.bytes, inodes: now.inodes - d.start.inodes}
	detail := ""
	lost := d.startAt.bytes - l.free.bytes
	if err == nil && d.held != nil && (lost-l.grown.bytes > d.limits.DiskBytes/2 || l.free.bytes < d.limits.FreeBytes) {
		held := d.held(b.life, d.device)
		if held.sum.bytes > 0 {
			detail = fmt.Sprintf(", %d of them in deleted files that are still open or mapped", held.sum.bytes)
		}
		l.hidden = held.hidden
		l.grown.bytes, l.grown.inodes = l.grown.bytes+held.sum.bytes, l.grown.inodes+held.sum.inodes
	}
	l.cost = time.Since(begin)
	l.next = time.Now().Add(l.rest())
	d.last = l
	limit := &sandbox.LimitError{Limit: sandbox.LimitDisk}
	switch {
	case l.grown.bytes > d.limits.DiskBytes:
		limit.Which, limit.Allowed, limit.Measured = sandbox.MeasureTreeBytes, d.limits.DiskBytes, l.grown.bytes
		limit.Detail = fmt.Sprintf("the tree grew by at least %d bytes%s; %d are allowed", l.grown.bytes, detail, d.limits.DiskBytes)
	case l.grown.inodes > d.limits.DiskInodes:
		limit.Which, limit.Allowed, limit.Measured = sandbox.MeasureTreeFiles, d.limits.DiskInodes, l.grown.inodes
		limit.Detail = fmt.Sprintf("the tree grew by at least %d files; %d are allowed", l.grown.inodes, d.limits.DiskInodes)
	case l.hidden != "" && lost-l.grown.bytes > d.limits.DiskBytes:
		limit.Which, limit.Allowed, limit.Measured = sandbox.MeasureTreeBytes, d.limits.DiskBytes, lost
		limit.Detail = fmt.Sprintf("the disk lost %d bytes of which %d are in the tree, and what the box holds cannot be measured: %s; %d are allowed",
			lost, l.grown.bytes, l.hidden, d.limits.DiskBytes)
	default:
		return err
	}
	b.end(limit)
	return nil
}

// Of a disk that is too full, a box is taken for the cause when it has used one of guiltyShares of what was lost since its start, and at
// least guiltyBytes. Others may go on until the disk has lastBytes less than it must keep: then all end. Of a small floor these are
// an eighth and a half.
const (
	guiltyShares = 4
	guiltyBytes  = 32 << 20
	lastBytes    = 256 << 20
)

// guilty reports, of a disk that is too full, whether this box has to end. It is asked right after a walk.
func (d *disk) guilty() bool {
	d.measures.Lock()
	defer d.measures.Unlock()
	lost := d.startAt.bytes - d.last.free.bytes
	used := d.last.grown.bytes
	if d.last.hidden != "" {
		used = lost
	}
	floor := d.limits.FreeBytes
	return used >= min(guiltyBytes, floor/8) && used*guiltyShares >= lost || d.last.free.bytes < floor-min(lastBytes, floor/2)
}

// free is what the filesystem of the tree has left.
func (d *disk) free() usage {
	var s unix.Statfs_t
	if err := unix.Fstatfs(int(d.root.Fd()), &s); err != nil {
		return usage{}
	}
	return usage{bytes: int64(s.Bavail) * s.Bsize, inodes: int64(s.Ffree)}
}

// floorError says that the disk is too full.
func (d *disk) floorError() error {
	free := d.free().bytes
	return &sandbox.LimitError{
		Limit: sandbox.LimitDisk, Which: sandbox.MeasureHostFree, Allowed: d.limits.FreeBytes, Measured: free,
		Detail: fmt.Sprintf("the host has %d bytes free, less than the %d it must keep", free, d.limits.FreeBytes),
	}
}

// deviceOf is the number of the device that a directory is on; 0 where it cannot be read.
func deviceOf(dir *os.File) uint64 {
	var s unix.Stat_t
	if err := unix.Fstat(int(dir.Fd()), &s); err != nil {
		return 0
	}
	return s.Dev
}
