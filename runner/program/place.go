package program

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// place makes the open file appear at path, unless another process was faster.
func place(src *os.File, path string) error {
	// The descriptor still names the file when another one has taken its place. A file without a name left, one of
	// another disk, or one of another user may refuse a link.
	err := unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(int(src.Fd())), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return placeCopy(src, path)
}

// placeCopy is place by a complete copy. The lock of a copy that is being written shows that its writer lives.
func placeCopy(src *os.File, path string) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), newPrefix+"*")
	if err != nil {
		return err
	}
	defer func() {
		gone := os.Remove(tmp.Name())
		if errors.Is(gone, fs.ErrNotExist) {
			gone = nil
		}
		err = errors.Join(err, tmp.Close(), gone)
	}()
	if err := lock(tmp, unix.LOCK_SH); err != nil {
		return err
	}
	if _, err := io.Copy(tmp, io.NewSectionReader(src, 0, 1<<62)); err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	// After a crash of the machine the name must not stand for half of the file. The mode lets users of boxes run it.
	if err := errors.Join(tmp.Chmod(0o755), tmp.Sync()); err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	if err := os.Link(tmp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// nameOf is the path of an open file, "" where another file, or none, has that name now.
func nameOf(f *os.File) string {
	path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(f.Fd())))
	if err != nil {
		return ""
	}
	if same, err := isAt(f, path); err != nil || !same {
		return ""
	}
	return path
}

// goBuildNote is the section of a Go program that holds the identity of its build: a hash of its content.
const goBuildNote = ".note.go.buildid"

// maxNote bounds how much of the note is read, in bytes.
const maxNote = 4096

// buildID identifies a program by its build and size, or by its whole content where it does not name its build.
func buildID(f *os.File) (string, error) {
	fi, err := f.Stat()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	if note := readBuildNote(f); len(note) > 0 {
		h.Write(note)
		fmt.Fprintf(h, "\x00%d", fi.Size())
	} else if _, err := io.Copy(h, io.NewSectionReader(f, 0, fi.Size())); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// readBuildNote returns the note, nil where there is none.
func readBuildNote(f *os.File) []byte {
	e, err := elf.NewFile(f)
	if err != nil {
		return nil
	}
	s := e.Section(goBuildNote)
	if s == nil || s.Type != elf.SHT_NOTE || s.Size > maxNote {
		return nil
	}
	note, err := s.Data()
	if err != nil || !bytes.Contains(note, []byte("Go\x00")) {
		return nil
	}
	return note
}
