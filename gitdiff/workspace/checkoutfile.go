package workspace

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // git names objects by SHA-1
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"golang.org/x/sys/unix"
)

// write makes one file, link or empty submodule directory.
func (c *checkout) write(j job) error {
	name := path.Base(j.file.Path)
	switch j.file.Mode {
	case filemode.Submodule:
		d, err := makeDir(j.dir, name, c.owner, c.mtime(j.file))
		if err != nil {
			return err
		}
		return d.done()
	case filemode.Symlink:
		return c.link(j, name)
	}
	perm := uint32(0o644)
	if j.file.Mode == filemode.Executable {
		perm = 0o755
	}
	fd, err := unix.Openat(j.dir, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, perm)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), name)
	return errors.Join(c.fill(j, f, perm), f.Close())
}

// fill gives an open file its content, owner, mode and time, in this order: each of the first three changes the last.
func (c *checkout) fill(j job, f *os.File, perm uint32) error {
	fd := int(f.Fd())
	if err := c.content(j, f); err != nil {
		return err
	}
	if err := c.owner.give(fd, perm); err != nil {
		return err
	}
	if err := setTime(j.dir, f.Name(), c.mtime(j.file)); err != nil {
		return err
	}
	if c.wrote == nil {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	c.wrote(j.index, &st)
	return nil
}

// content writes the content of a file, from a clone of it or from its blob.
func (c *checkout) content(j job, f *os.File) error {
	if c.clone != nil {
		if done, err := c.clone(j.file, f); done || err != nil {
			return err
		}
	}
	blob, err := c.blob(j)
	if err != nil {
		return err
	}
	if blob.Size() > gitobj.StreamedBytes {
		return c.streamed(j, blob, f)
	}
	data, err := verified(blob, j.file.Hash)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	if j.pack {
		return c.pack.Add(plumbing.BlobObject, j.file.Hash, data)
	}
	return nil
}

// blob is the blob of a job, read now where it was expected to be cloned.
func (c *checkout) blob(j job) (plumbing.EncodedObject, error) {
	if j.blob != nil {
		return j.blob, nil
	}
	blob, err := c.from.EncodedObject(plumbing.BlobObject, j.file.Hash)
	if err != nil {
		return nil, gitobj.ReadError(j.file.Hash, err)
	}
	return blob, nil
}

// streamed writes a large blob without holding it in memory; the pack reads it back from the file.
func (c *checkout) streamed(j job, blob plumbing.EncodedObject, f *os.File) error {
	in, err := blob.Reader()
	if err != nil {
		return gitobj.ReadError(j.file.Hash, err)
	}
	sum := sha1.New() //nolint:gosec // see the import
	fmt.Fprintf(sum, "blob %d\x00", blob.Size())
	n, err := io.Copy(io.MultiWriter(f, sum), in)
	if err = errors.Join(err, in.Close()); err != nil {
		return gitobj.ReadError(j.file.Hash, err)
	}
	if plumbing.Hash(sum.Sum(nil)) != j.file.Hash {
		return gitobj.Corrupt(j.file.Hash)
	}
	if !j.pack {
		return nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return c.pack.Stream(plumbing.BlobObject, j.file.Hash, n, f)
}

// link makes a symbolic link; its text is content and is not inspected.
func (c *checkout) link(j job, name string) error {
	blob, err := c.blob(j)
	if err != nil {
		return err
	}
	if blob.Size() >= unix.PathMax {
		return fmt.Errorf("a link's text of %d bytes is too long for this system", blob.Size())
	}
	text, err := verified(blob, j.file.Hash)
	if err != nil {
		return err
	}
	if err := unix.Symlinkat(string(text), j.dir, name); err != nil {
		return err
	}
	if j.pack {
		if err := c.pack.Add(plumbing.BlobObject, j.file.Hash, text); err != nil {
			return err
		}
	}
	if err := unix.Fchownat(j.dir, name, c.owner.uid, c.owner.gid, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if err := setTime(j.dir, name, c.mtime(j.file)); err != nil {
		return err
	}
	if c.wrote == nil {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstatat(j.dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	c.wrote(j.index, &st)
	return nil
}

// verified returns the content of a small object after checking that it has the id it is known by.
func verified(blob plumbing.EncodedObject, id plumbing.Hash) ([]byte, error) {
	in, err := blob.Reader()
	if err != nil {
		return nil, gitobj.ReadError(id, err)
	}
	data := bytes.NewBuffer(make([]byte, 0, blob.Size()+bytes.MinRead))
	_, err = data.ReadFrom(io.LimitReader(in, gitobj.StreamedBytes+1))
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, gitobj.ReadError(id, err)
	}
	sum := sha1.New() //nolint:gosec // see the import
	fmt.Fprintf(sum, "blob %d\x00", data.Len())
	sum.Write(data.Bytes())
	if plumbing.Hash(sum.Sum(nil)) != id {
		return nil, gitobj.Corrupt(id)
	}
	return data.Bytes(), nil
}
