package capture

import (
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Stats records the metadata of files right after they were made, so that a capture need not read those that were not
// touched since. A change time cannot be set without privilege over the clock or the disk, which no box has.
type Stats struct {
	mu      sync.Mutex
	taken   int64 // wall clock in nanoseconds when recording ended
	entries map[string]statKey
}

// statKey is the identity of one unmodified file.
type statKey struct {
	dev, ino uint64
	ctime    int64 // nanoseconds
	size     int64
	mode     uint32
}

func newStatKey(st *unix.Stat_t) statKey {
	return statKey{dev: st.Dev, ino: st.Ino, ctime: st.Ctim.Nano(), size: st.Size, mode: st.Mode}
}

// NewStats begins a recording of about n files.
func NewStats(n int) *Stats { return &Stats{entries: make(map[string]statKey, n)} }

// Record records a file that was just made. It is safe for concurrent use.
func (c *Stats) Record(path string, st *unix.Stat_t) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries[path] = newStatKey(st)
}

// End ends the recording at a time of the wall clock.
func (c *Stats) End(at time.Time) { c.taken = at.UnixNano() }

// clockTick is how coarse the times of files can be, in nanoseconds: a tick of the slowest kernel clock, 100 Hz.
const clockTick = 10_000_000

// untouched reports whether a file is known to be as it was made. One made within a tick of the end of the recording is
// not: a write right after could have left it with the same change time.
func (c *Stats) untouched(path string, st *unix.Stat_t) bool {
	if c == nil || st.Ctim.Nano() >= c.taken-clockTick {
		return false
	}
	k, ok := c.entries[path]
	return ok && k == newStatKey(st)
}

func fstat(f *os.File) (st unix.Stat_t, err error) {
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return st, fmt.Errorf("fstat: %w", err)
	}
	return st, nil
}
