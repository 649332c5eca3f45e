// Package quota bounds the size of a directory with the project quotas of its file system (ext4, XFS): the kernel
// itself refuses writes beyond the limit. Where the file system has none, or this process may not set them, nothing is
// bounded and no error results: callers must watch the growth in any case.
//
// A project is a number that a directory passes on to everything made in it
// (https://www.kernel.org/doc/html/latest/filesystems/ext4/overview.html, xfs_quota(8)). Libraries for this need cgo,
// which this program does without.
package quota

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Growth is how much a directory may grow; 0 is without limit.
type Growth struct {
	Bytes int64
	Files int64 // of any type, directories too
}

// The projects of this program. Numbers in use by others are skipped.
const (
	firstProject = 1 << 30
	tries        = 16
)

// Begin makes the empty directory dir, and with it everything made in it later, a project. Where that is impossible,
// dir stays unchanged and the error says why; there is nothing to undo.
func Begin(dir string) error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("quota: only root can set one: %w", unix.EPERM)
	}
	return onDir(dir, func(fd int) error {
		project := firstProject + crc32.ChecksumIEEE([]byte(dir))>>2
		for range tries {
			have, err := query(fd, project)
			if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTTY) || errors.Is(err, unix.EOPNOTSUPP) {
				return fmt.Errorf("quota: this file system has no project quotas: %w", errors.ErrUnsupported)
			}
			if err != nil {
				return fmt.Errorf("read quota of %s: %w", dir, err)
			}
			if have == (blocks{Valid: have.Valid}) {
				return enter(fd, project)
			}
			project++
		}
		return fmt.Errorf("find a free project for %s: %w", dir, unix.EUSERS)
	})
}

// Limit bounds the project dir to its present size and growth. A dir that is no project is left unchanged.
func Limit(dir string, growth Growth) error {
	return onProject(dir, func(fd int, project uint32) error {
		have, err := query(fd, project)
		if err != nil {
			return fmt.Errorf("read quota of %s: %w", dir, err)
		}
		var most blocks
		if growth.Bytes > 0 {
			most.BytesHard = (have.Bytes + uint64(growth.Bytes) + blockSize - 1) / blockSize
		}
		if growth.Files > 0 {
			most.FilesHard = have.Files + uint64(growth.Files)
		}
		return set(fd, project, most)
	})
}

// End lifts the limit of the project dir before its removal, and reports whether there was one. A dir that is no
// project, or does not exist, is no error.
func End(dir string) (ended bool, err error) {
	err = onProject(dir, func(fd int, project uint32) error {
		ended = true
		return set(fd, project, blocks{})
	})
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return false, nil
	}
	return ended, err
}

// Of returns the limit and the present size of the project dir; false where it has no limit.
func Of(dir string) (most, now Growth, ok bool) {
	err := onProject(dir, func(fd int, project uint32) error {
		b, err := query(fd, project)
		most = Growth{Bytes: int64(b.BytesHard) * blockSize, Files: int64(b.FilesHard)}
		now = Growth{Bytes: int64(b.Bytes), Files: int64(b.Files)}
		return err
	})
	return most, now, err == nil && most != Growth{}
}

// onProject opens dir and calls do where it is a project of this program.
func onProject(dir string, do func(fd int, project uint32) error) error {
	return onDir(dir, func(fd int) error {
		project, err := projectOf(fd)
		if project < firstProject || err != nil {
			return err
		}
		return do(fd, project)
	})
}

func onDir(dir string, do func(fd int) error) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: dir, Err: err}
	}
	defer unix.Close(fd)
	return do(fd)
}

// attributes is the kernel's struct fsxattr (linux/fs.h).
type attributes struct {
	Flags, ExtentSize, Extents, Project, CowExtentSize uint32
	_                                                  [8]byte
}

const (
	getAttributes = 0x801c581f // FS_IOC_FSGETXATTR
	setAttributes = 0x401c5820 // FS_IOC_FSSETXATTR
	inherit       = 0x200      // FS_XFLAG_PROJINHERIT
)

// projectOf returns the project of an open directory, 0 for none.
func projectOf(fd int) (uint32, error) {
	var a attributes
	switch err := ioctl(fd, getAttributes, &a); {
	case errors.Is(err, unix.ENOTTY), errors.Is(err, unix.EOPNOTSUPP):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("quota: read the project: %w", err)
	}
	return a.Project, nil
}

func enter(fd int, project uint32) error {
	var a attributes
	err := ioctl(fd, getAttributes, &a)
	if err == nil {
		a.Flags, a.Project = a.Flags|inherit, project
		err = ioctl(fd, setAttributes, &a)
	}
	if err != nil {
		return fmt.Errorf("quota: make a project: %w", err)
	}
	return nil
}

func ioctl(fd int, request uintptr, a *attributes) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(unsafe.Pointer(a))); errno != 0 { //nolint:gosec // the kernel's own structure
		return errno
	}
	return nil
}

// blocks is the kernel's struct if_dqblk (linux/quota.h).
type blocks struct {
	BytesHard, BytesSoft uint64 // in blocks of blockSize
	Bytes                uint64
	FilesHard, FilesSoft uint64
	Files                uint64
	BytesTime, FilesTime uint64
	Valid                uint32
	_                    uint32
}

const (
	blockSize   = 1024
	ofProjects  = 2        // PRJQUOTA
	getQuota    = 0x800007 // Q_GETQUOTA
	setQuota    = 0x800008 // Q_SETQUOTA
	validLimits = 1 | 4    // QIF_LIMITS
)

// query asks for the limits and the use of a project; nothing is known of one
// that was never used.
func query(fd int, project uint32) (blocks, error) {
	var b blocks
	err := quotactl(fd, getQuota, project, &b)
	if errors.Is(err, unix.ENOENT) {
		return blocks{}, nil
	}
	return b, err
}

func set(fd int, project uint32, b blocks) error {
	b.Valid = validLimits
	if err := quotactl(fd, setQuota, project, &b); err != nil {
		return fmt.Errorf("quota: set a limit: %w", err)
	}
	return nil
}

// quotactl works on the file system of an open file, since Linux 5.14.
func quotactl(fd int, command, project uint32, b *blocks) error {
	_, _, errno := unix.Syscall6(unix.SYS_QUOTACTL_FD, uintptr(fd), uintptr(command<<8|ofProjects), uintptr(project), uintptr(unsafe.Pointer(b)), 0, 0) //nolint:gosec // as above
	if errno != 0 {
		return errno
	}
	return nil
}
