package gitdiff

import "golang.org/x/sys/unix"

// statCache remembers what files looked like right after they were made, so that a walker need not read those which
// nobody has touched. A change time cannot be set without privilege over the clock or the disk, which no box has.
type statCache struct {
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

// unchanged reports whether path still is the file that was made there.
func (c *statCache) unchanged(path string, st *unix.Stat_t) bool {
	k, ok := c.entries[path]
	return ok && k == newStatKey(st)
}
