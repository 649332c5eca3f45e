package workspace

import (
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// owner is the numeric user and group that files are given to.
type owner struct{ uid, gid int }

// give sets owner and permissions of an open file where they differ; an unprivileged runner cannot give files away.
func (o owner) give(fd int, perm uint32) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if int(st.Uid) != o.uid || int(st.Gid) != o.gid {
		if err := unix.Fchown(fd, o.uid, o.gid); err != nil {
			return err
		}
	}
	if st.Mode&0o7777 != perm {
		return unix.Fchmod(fd, perm)
	}
	return nil
}

// openedDir is an open directory that files are made in. Everything is made relative to such a descriptor and must not
// have existed, so that no name in a tree can lead anywhere else.
type openedDir struct {
	fd    int
	mtime time.Time // what to set when the last user is done; zero for none
	users atomic.Int32
}

// makeDir makes the directory name in parent and opens it for one user.
func makeDir(parent int, name string, o owner, mtime time.Time) (*openedDir, error) {
	if err := unix.Mkdirat(parent, name, 0o755); err != nil {
		return nil, fmt.Errorf("make directory %q: %w", name, err)
	}
	return openDir(parent, name, o, mtime)
}

// openDir opens a directory that was made here for one user and sets its mode and owner.
func openDir(parent int, name string, o owner, mtime time.Time) (*openedDir, error) {
	fd, err := unix.Openat(parent, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open directory %q: %w", name, err)
	}
	d := &openedDir{fd: fd, mtime: mtime}
	d.users.Store(1)
	if err := o.give(fd, 0o755); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("set owner of %q: %w", name, err)
	}
	return d, nil
}

func (d *openedDir) use() *openedDir {
	d.users.Add(1)
	return d
}

// done ends one use; the last one closes the directory.
func (d *openedDir) done() error {
	if d.users.Add(-1) > 0 {
		return nil
	}
	err := setTime(d.fd, ".", d.mtime)
	if e := unix.Close(d.fd); err == nil {
		err = e
	}
	return err
}

// setTime sets the modification time of a file in an open directory, of a link itself; a zero time leaves it.
func setTime(dir int, name string, t time.Time) error {
	if t.IsZero() {
		return nil
	}
	ts := unix.NsecToTimespec(t.UnixNano())
	return unix.UtimesNanoAt(dir, name, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
}
