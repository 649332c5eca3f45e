package gitdiff

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
)

// inMemory is the size in bytes up to which a file is read once into memory. A larger one is read twice, once for its id
// and once, when the id is new, into the store.
const inMemory = 1 << 20

// lazyWriter is the streaming way into go-git's file storage: nothing is kept in memory.
type lazyWriter interface {
	LazyWriter() (io.WriteCloser, func(plumbing.ObjectType, int64) error, error)
}

// LazyWriter writes an object to the store as it comes.
func (q *quarantine) LazyWriter() (io.WriteCloser, func(plumbing.ObjectType, int64) error, error) {
	return q.own.LazyWriter()
}

// store writes exactly size bytes as a blob and returns its id; a blob whose id is known is not written.
func (c *capturer) store(r io.ReadSeeker, size int64, known plumbing.Hash) (plumbing.Hash, error) {
	lazy, ok := c.storer.(lazyWriter)
	if size > inMemory && ok {
		return c.storeLarge(lazy, r, size, known)
	}
	content := make([]byte, size)
	if _, err := io.ReadFull(r, content); err != nil {
		return plumbing.ZeroHash, shrunk(err)
	}
	id := plumbing.ComputeHash(plumbing.BlobObject, content)
	if id == known {
		return id, nil
	}
	obj := c.storer.NewEncodedObject()
	obj.SetType(plumbing.BlobObject)
	obj.SetSize(size)
	w, err := obj.Writer()
	if err == nil {
		_, err = io.Copy(w, bytes.NewReader(content))
		err = errors.Join(err, w.Close())
	}
	if err == nil {
		id, err = c.storer.SetEncodedObject(obj)
	}
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("write blob: %w", err)
	}
	return id, nil
}

func (c *capturer) storeLarge(lazy lazyWriter, r io.ReadSeeker, size int64, known plumbing.Hash) (plumbing.Hash, error) {
	id, err := c.hash(io.Discard, r, size)
	if err != nil || id == known {
		return id, err
	}
	if c.storer.HasEncodedObject(id) == nil {
		return id, nil
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("rewind: %w", err)
	}
	w, header, err := lazy.LazyWriter()
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("write blob: %w", err)
	}
	if err = header(plumbing.BlobObject, size); err == nil {
		var again plumbing.Hash
		if again, err = c.hash(w, r, size); err == nil && again != id {
			err = ErrTreeUnstable
		}
	}
	// After an error the writer still names the object after what it got, which is no object anybody asks for.
	if err = errors.Join(err, w.Close()); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("write blob: %w", err)
	}
	return id, nil
}

// hash copies exactly size bytes and returns the id they have as a blob.
func (c *capturer) hash(w io.Writer, r io.Reader, size int64) (plumbing.Hash, error) {
	h := plumbing.NewHasher(plumbing.BlobObject, size)
	n, err := io.CopyBuffer(io.MultiWriter(w, h), io.LimitReader(r, size), c.buf)
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return plumbing.ZeroHash, shrunk(err)
	}
	return h.Sum(), nil
}

// shrunk says that a file ended before its size.
func shrunk(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: shorter than its size", ErrTreeUnstable)
	}
	return err
}
