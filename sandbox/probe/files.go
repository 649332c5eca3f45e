package probe

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Files is what the file system offers.
type Files struct {
	// Writable are the uppermost paths this user can write to.
	Writable []string `json:"writable"`
	// Privileged are programs that carry another user's identity or capabilities, and whether running them would
	// change anything.
	Privileged []Privileged `json:"privileged"`
	Devices    []Device     `json:"devices"`
	Sockets    []string     `json:"sockets"` // unix sockets with a path
	Searched   int          `json:"searched"`
	// Complete says that the search reached everything.
	Complete bool `json:"complete"`
}

// Privileged is a program with a set-user, set-group or capability mark.
type Privileged struct {
	Path   string `json:"path"`
	Mark   string `json:"mark"`
	Usable bool   `json:"usable"`
}

// Device is a device node, and whether this user can open it.
type Device struct {
	Path   string `json:"path"`
	Number string `json:"number"`
	Read   bool   `json:"read"`
	Write  bool   `json:"write"`
}

// Bounds of the search.
const (
	maxSearched = 2_000_000
	maxListed   = 500
)

// kernelTrees are inspected by other means.
var kernelTrees = []string{"/proc", "/sys"}

// inspectFiles walks the whole tree, except what is writable anyway.
func inspectFiles(ctx context.Context) Files {
	f := Files{Writable: []string{}, Privileged: []Privileged{}, Devices: []Device{}, Sockets: []string{}}
	noNew := lines("/proc/self/status")
	powerless := slices.Contains(noNew, "NoNewPrivs:\t1")
	err := filepath.WalkDir("/", func(path string, d fs.DirEntry, err error) error {
		if err != nil || slices.Contains(kernelTrees, path) {
			return fs.SkipDir
		}
		if f.Searched++; f.Searched > maxSearched || ctx.Err() != nil {
			return fmt.Errorf("search stopped at %s", path)
		}
		return f.see(path, d, powerless)
	})
	f.Complete = err == nil
	return f
}

// see records one entry.
func (f *Files) see(path string, d fs.DirEntry, powerless bool) error {
	switch {
	case d.Type()&fs.ModeSymlink != 0:
		return nil
	case d.Type()&fs.ModeDevice != 0:
		f.device(path)
		return nil
	case d.Type()&fs.ModeSocket != 0:
		f.Sockets = list(f.Sockets, path)
		return nil
	}
	if writable(path) {
		f.Writable = list(f.Writable, path)
		if d.IsDir() && path != "/dev" && path != "/" {
			return fs.SkipDir
		}
	}
	if d.Type().IsRegular() {
		f.privilege(path, d, powerless)
	}
	return nil
}

func (f *Files) device(path string) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil || len(f.Devices) == maxListed {
		return
	}
	can := func(flags int) bool {
		fd, err := unix.Open(path, flags|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		if err != nil {
			return false
		}
		return unix.Close(fd) == nil
	}
	f.Devices = append(f.Devices, Device{
		Path: path, Number: fmt.Sprintf("%d:%d", unix.Major(st.Rdev), unix.Minor(st.Rdev)),
		Read: can(unix.O_RDONLY), Write: can(unix.O_WRONLY),
	})
}

func (f *Files) privilege(path string, d fs.DirEntry, powerless bool) {
	info, err := d.Info()
	if err != nil {
		return
	}
	var marks []string
	if info.Mode()&fs.ModeSetuid != 0 {
		marks = append(marks, "setuid")
	}
	if info.Mode()&fs.ModeSetgid != 0 {
		marks = append(marks, "setgid")
	}
	if n, err := unix.Lgetxattr(path, "security.capability", nil); err == nil && n > 0 {
		marks = append(marks, "capabilities")
	}
	if len(marks) == 0 || len(f.Privileged) == maxListed {
		return
	}
	var st unix.Statfs_t
	usable := !powerless && unix.Statfs(path, &st) == nil && st.Flags&unix.ST_NOSUID == 0
	f.Privileged = append(f.Privileged, Privileged{Path: path, Mark: strings.Join(marks, ", "), Usable: usable})
}

// writable asks the kernel, because it knows read-only mounts too.
func writable(path string) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS) == nil
}

// writableBelow lists what can be written in one of the kernel's own trees. One writable setting there can defeat the
// isolation.
func writableBelow(root string) []string {
	found := []string{}
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error { // it returns errors only to skip
		unread := err != nil || d.Type()&os.ModeSymlink != 0
		if !unread && writable(path) {
			found = list(found, path)
		}
		if err != nil && d != nil && d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return found
}

func list(all []string, one string) []string {
	if len(all) == maxListed {
		return all
	}
	return append(all, one)
}
