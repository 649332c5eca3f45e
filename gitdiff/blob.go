package gitdiff

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// ErrTreeUnstable is returned when a tree changed while it was captured: its box was still running.
var ErrTreeUnstable = errors.New("tree changed while it was read")

// InMemory is the size in bytes up to which a file is read once into memory. A larger one is read twice, once for its id
// and once, when the id is new, into the store.
const InMemory = 1 << 20

// lazyWriter is the streaming way into go-git's file storage: nothing is kept in memory.
type lazyWriter interface {
	LazyWriter() (io.WriteCloser, func(plumbing.ObjectType, int64) error, error)
}

// BlobWriter stores files as blobs. It is not safe for concurrent use.
type BlobWriter struct {
	storer storer.EncodedObjectStorer
	buf    []byte
}

// Blobs returns a writer of blobs into the store.
func (o *Objects) Blobs() *BlobWriter {
	return &BlobWriter{storer: o.Storer(), buf: make([]byte, 64<<10)}
}

// Write stores exactly size bytes as a blob and returns its id; a blob whose id is known is not written.
func (w *BlobWriter) Write(r io.ReadSeeker, size int64, known plumbing.Hash) (plumbing.Hash, error) {
	lazy, ok := w.storer.(lazyWriter)
	if size > InMemory && ok {
		return w.storeLarge(lazy, r, size, known)
	}
	content := make([]byte, size)
	if _, err := io.ReadFull(r, content); err != nil {
		return plumbing.ZeroHash, shrunk(err)
	}
	id := plumbing.ComputeHash(plumbing.BlobObject, content)
	if id == known {
		return id, nil
	}
	obj := w.storer.NewEncodedObject()
	obj.SetType(plumbing.BlobObject)
	obj.SetSize(size)
	to, err := obj.Writer()
	if err == nil {
		_, err = io.Copy(to, bytes.NewReader(content))
		err = errors.Join(err, to.Close())
	}
	if err == nil {
		id, err = w.storer.SetEncodedObject(obj)
	}
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("write blob: %w", err)
	}
	return id, nil
}

func (w *BlobWriter) storeLarge(lazy lazyWriter, r io.ReadSeeker, size int64, known plumbing.Hash) (plumbing.Hash, error) {
	id, err := w.hash(io.Discard, r, size)
	if err != nil || id == known {
		return id, err
	}
	if w.storer.HasEncodedObject(id) == nil {
		return id, nil
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("rewind: %w", err)
	}
	to, header, err := lazy.LazyWriter()
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("write blob: %w", err)
	}
	if err = header(plumbing.BlobObject, size); err == nil {
		var again plumbing.Hash
		if again, err = w.hash(to, r, size); err == nil && again != id {
			err = ErrTreeUnstable
		}
	}
	// After an error the writer stores what it got under the id of that, which is the id of no object in use.
	if err = errors.Join(err, to.Close()); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("write blob: %w", err)
	}
	return id, nil
}

// hash copies exactly size bytes and returns the id they have as a blob.
func (w *BlobWriter) hash(to io.Writer, r io.Reader, size int64) (plumbing.Hash, error) {
	h := plumbing.NewHasher(plumbing.BlobObject, size)
	n, err := io.CopyBuffer(io.MultiWriter(to, h), io.LimitReader(r, size), w.buf)
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
