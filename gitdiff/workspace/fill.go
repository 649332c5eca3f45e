package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitobj"
)

// Bounds of what is copied from a workspace whose growth nobody bounds.
const (
	fillBytes = 64 << 30
	fillFiles = 10_000_000
	fillDepth = 200     // directories below the root
	fillChunk = 1 << 20 // bytes copied between two looks at the context
)

// filler copies what a box left in one plain tree into another one, where that has nothing of the same name: what an overlay
// would show of it. Everything is opened relative to its directory without following a link or waiting for a file.
type filler struct {
	hidden map[string]bool // paths that the new tree does not have, with all they hold
	opaque map[string]bool // directories of the new tree that show nothing of the old one
	own    owner
	bytes  int64 // that may still be copied
	files  int64
	most   [2]int64 // bytes and files in the beginning
	plain  bool     // the file system cannot share blocks
	buffer []byte
}

// fill copies into w the files of the workspace below it that d does not replace. Devices, sockets and FIFOs are left out.
func fill(ctx context.Context, w *Workspace, d *gitobj.Delta, own owner) (err error) {
	f := &filler{hidden: map[string]bool{}, opaque: map[string]bool{}, own: own, buffer: make([]byte, fillChunk)}
	for _, name := range d.Gone {
		f.hidden[name] = true
	}
	for _, name := range d.Opaque {
		f.opaque[name] = true
	}
	f.bytes, f.files = fillBytes, fillFiles
	if g := w.spec.Over.spec.Growth; g != (Growth{}) {
		// The base is counted twice: its size on the disk can be less than that of its files.
		f.bytes, f.files = 2*w.base.Bytes+cmp.Or(g.Bytes, fillBytes), 2*int64(w.base.Files)+cmp.Or(g.Files, fillFiles)
	}
	f.most = [2]int64{f.bytes, f.files}
	from, err := openPlain(unix.AT_FDCWD, w.spec.Over.root)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := openPlain(unix.AT_FDCWD, w.root)
	if err != nil {
		return err
	}
	defer to.Close()
	return f.directory(ctx, from, to, "", 0)
}

// openPlain opens a directory, not a link to one.
func openPlain(parent int, name string) (*os.File, error) {
	fd, err := unix.Openat(parent, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open directory %q: %w", name, err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (f *filler) directory(ctx context.Context, from, to *os.File, path string, depth int) error {
	if depth > fillDepth {
		return &gitdiff.BudgetError{Code: gitdiff.TooManyFiles, What: "directories below one another", Limit: fillDepth}
	}
	for {
		names, err := from.Readdirnames(1024)
		for _, name := range names {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if f.files--; f.files < 0 {
				return &gitdiff.BudgetError{Code: gitdiff.TooManyFiles, What: "files", Limit: f.most[1]}
			}
			if f.hidden[path+name] {
				continue
			}
			if err := f.entry(ctx, int(from.Fd()), int(to.Fd()), path+name, name, depth); err != nil {
				return fmt.Errorf("copy %q: %w", path+name, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// entry copies one name, unless the new tree has it.
func (f *filler) entry(ctx context.Context, from, to int, path, name string, depth int) error {
	var st unix.Stat_t
	if err := unix.Fstatat(from, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	var err error
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		err = f.subdirectory(ctx, from, to, path, name, depth, &st)
	case unix.S_IFREG:
		err = f.file(ctx, from, to, name, &st)
	case unix.S_IFLNK:
		text := make([]byte, gitdiff.MaxPath+1)
		var n int
		if n, err = unix.Readlinkat(from, name, text); err == nil {
			err = unix.Symlinkat(string(text[:n]), to, name)
		}
		if err == nil {
			err = errors.Join(unix.Fchownat(to, name, f.own.uid, f.own.gid, unix.AT_SYMLINK_NOFOLLOW), setTimes(to, name, &st))
		}
	}
	if errors.Is(err, unix.EEXIST) {
		return nil
	}
	return err
}

func (f *filler) subdirectory(ctx context.Context, from, to int, path, name string, depth int, st *unix.Stat_t) (err error) {
	made := unix.Mkdirat(to, name, 0o700)
	if made != nil && !errors.Is(made, unix.EEXIST) {
		return made
	}
	if made != nil {
		var there unix.Stat_t
		if err := unix.Fstatat(to, name, &there, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
		if there.Mode&unix.S_IFMT != unix.S_IFDIR || f.opaque[path] {
			return nil
		}
	}
	in, err := openLeft(from, name, unix.O_DIRECTORY, st)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := openPlain(to, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := f.directory(ctx, in, out, path+"/", depth+1); err != nil {
		return err
	}
	if made != nil {
		return nil // as the new tree has it
	}
	return errors.Join(f.own.give(int(out.Fd()), st.Mode&0o777), setTimes(int(out.Fd()), ".", st))
}

func (f *filler) file(ctx context.Context, from, to int, name string, st *unix.Stat_t) (err error) {
	fd, err := unix.Openat(to, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	out := os.NewFile(uintptr(fd), name)
	defer func() { err = errors.Join(err, out.Close()) }()
	if f.bytes -= st.Size; f.bytes < 0 {
		return &gitdiff.BudgetError{Code: gitdiff.TotalTooLarge, What: "bytes", Limit: f.most[0]}
	}
	in, err := openLeft(from, name, unix.O_NONBLOCK, st)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := f.content(ctx, in, out, st.Size); err != nil {
		return err
	}
	return errors.Join(f.own.give(fd, st.Mode&0o777), setTimes(fd, "", st))
}

// content copies so many bytes at most.
func (f *filler) content(ctx context.Context, in, out *os.File, size int64) error {
	if !f.plain {
		if unix.IoctlFileClone(int(out.Fd()), int(in.Fd())) == nil {
			return nil
		}
		f.plain = true
	}
	for left := size; left > 0; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := in.Read(f.buffer[:min(left, fillChunk)])
		if _, werr := out.Write(f.buffer[:n]); werr != nil {
			return werr
		}
		left -= int64(n)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// openLeft opens what st describes, also where the box has taken the right to read it from its owner; the mode stays as it was.
func openLeft(parent int, name string, flags int, st *unix.Stat_t) (*os.File, error) {
	const always = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(parent, name, always|flags, 0)
	if errors.Is(err, unix.EACCES) {
		path, perr := unix.Openat(parent, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if perr != nil {
			return nil, perr
		}
		defer unix.Close(path)
		// An O_PATH descriptor cannot be changed itself, but its link in /proc names exactly this file.
		link := "/proc/self/fd/" + strconv.Itoa(path)
		if err := unix.Chmod(link, st.Mode&0o777|0o500); err != nil {
			return nil, err
		}
		fd, err = unix.Openat(parent, name, always|flags, 0)
		err = errors.Join(err, unix.Chmod(link, st.Mode&0o777))
	}
	if err != nil {
		return nil, err
	}
	var is unix.Stat_t
	if err = unix.Fstat(fd, &is); err == nil && (is.Dev != st.Dev || is.Ino != st.Ino) {
		err = fmt.Errorf("%w: it was replaced", gitdiff.ErrTreeUnstable)
	}
	if err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), name), nil
}

// setTimes gives a file, or an entry of an open directory, the modification time of another one: what builds compare.
func setTimes(fd int, name string, st *unix.Stat_t) error {
	times := []unix.Timespec{st.Mtim, st.Mtim}
	if name == "" {
		return unix.UtimesNanoAt(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), times, 0)
	}
	return unix.UtimesNanoAt(fd, name, times, unix.AT_SYMLINK_NOFOLLOW)
}
