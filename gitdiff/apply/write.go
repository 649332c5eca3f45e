package apply

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/sys/unix"

	"sandboxrun/gitdiff/change"
)

// errChanged says that another process changed a path between the check and the write.
var errChanged = errors.New("changed while the change was being applied")

// write brings one path to its new side. What is there is compared once more, in the directory that is written to.
func (a *applier) write(c *change.Change) (err error) {
	dir, err := a.root.parent(c.Name, c.Type != change.Deleted)
	if errors.Is(err, errNoDir) {
		return errChanged
	}
	if err != nil {
		return asUnsafe(c.Name, err)
	}
	defer func() { err = errors.Join(err, unix.Close(dir)) }()
	now, err := a.heldIn(dir, c)
	if err != nil {
		return asUnsafe(c.Name, err)
	}
	if now != oldState(c) {
		return errChanged
	}
	base := path.Base(c.Name)
	if c.Type == change.Deleted {
		if err := unix.Unlinkat(dir, base, 0); err != nil {
			return err
		}
		a.prune(path.Dir(c.Name))
		return nil
	}
	temp, err := a.fill(dir, c)
	if err != nil {
		return err
	}
	if err := unix.Unlinkat(dir, base, unix.AT_REMOVEDIR); err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENOTDIR) {
		return errors.Join(err, drop(dir, temp)) // a directory that is not empty
	}
	if err := unix.Renameat(dir, temp, dir, base); err != nil {
		return errors.Join(err, drop(dir, temp))
	}
	return nil
}

// asUnsafe makes an [UnsafeError] of a path that became one after the check.
func asUnsafe(name string, err error) error {
	if why := (*pathError)(nil); errors.As(err, &why) {
		return &UnsafeError{Paths: []string{name}, Reasons: []string{why.Error()}}
	}
	return err
}

// fill makes the new side of a change under a name of its own in an open directory.
func (a *applier) fill(dir int, c *change.Change) (temp string, err error) {
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", err
	}
	temp = ".sandboxrun-apply-" + hex.EncodeToString(random[:])
	blob, err := a.storer.EncodedObject(plumbing.BlobObject, plumbing.NewHash(c.NewID))
	if err != nil {
		return "", err
	}
	content, err := blob.Reader()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	if c.NewMode == linkMode {
		text, err := io.ReadAll(io.LimitReader(content, maxLink))
		if err != nil {
			return "", err
		}
		return temp, unix.Symlinkat(string(text), dir, temp)
	}
	perm := uint32(0o666)
	if c.NewMode == programMode {
		perm = 0o777
	}
	fd, err := unix.Openat(dir, temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, perm)
	if err != nil {
		return "", err
	}
	f := os.NewFile(uintptr(fd), temp)
	_, err = io.Copy(f, content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("write: %w", err), drop(dir, temp))
	}
	return temp, nil
}

// drop removes a file that did not get its name.
func drop(dir int, temp string) error {
	if err := unix.Unlinkat(dir, temp, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	return nil
}

// prune removes directories that have become empty, as git does; one that is not empty stays.
func (a *applier) prune(dir string) {
	for ; dir != "."; dir = path.Dir(dir) {
		parent, err := a.root.parent(dir, false)
		if err != nil {
			return
		}
		err = errors.Join(unix.Unlinkat(parent, path.Base(dir), unix.AT_REMOVEDIR), unix.Close(parent))
		if err != nil {
			return
		}
	}
}
