// Package gitobj reads and writes git objects: their content, trees and lists of trees, and packs.
package gitobj

import (
	"errors"
	"fmt"
	"io"

	"sandboxrun/gitdiff/gitname"

	"github.com/go-git/go-git/v5/plumbing"
)

// StreamedBytes is the size above which objects are streamed, not held in memory.
const StreamedBytes = 1 << 20

// MissingError is returned when the repository lacks an object it should have.
type MissingError struct {
	ID string // hex object id
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("object %s is missing from the repository (fetch it first where the clone is partial or shallow)", e.ID)
}

// Getter is where objects come from: a user's repository alone, or with the store before it.
type Getter interface {
	EncodedObject(t plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error)
}

// Content returns the whole content of an object that is known to be small, such as a tree.
func Content(from Getter, t plumbing.ObjectType, h plumbing.Hash, limit int64) (data []byte, err error) {
	obj, err := from.EncodedObject(t, h)
	if err != nil {
		return nil, ReadError(h, err)
	}
	if obj.Size() > limit {
		return nil, fmt.Errorf("object %s: %d bytes, more than %d", h, obj.Size(), limit)
	}
	in, err := obj.Reader()
	if err != nil {
		return nil, ReadError(h, err)
	}
	data, err = io.ReadAll(io.LimitReader(in, limit+1))
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, ReadError(h, err)
	}
	if int64(len(data)) != obj.Size() {
		return nil, fmt.Errorf("object %s is corrupt: its size is not the recorded one", h)
	}
	return data, nil
}

// ReadError names the object in an error of reading it.
func ReadError(h plumbing.Hash, err error) error {
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return &MissingError{ID: h.String()}
	}
	return fmt.Errorf("object %s: %w", h, err)
}

// Corrupt is the error of an object whose content does not have its id.
func Corrupt(id plumbing.Hash) error {
	return fmt.Errorf("object %s is corrupt: its content has another id", id)
}

// ParseID is the object id that 40 hex digits name.
func ParseID(hex string) (plumbing.Hash, error) {
	if !plumbing.IsHash(hex) || len(hex) != 2*len(plumbing.ZeroHash) {
		return plumbing.ZeroHash, fmt.Errorf("%q is not an object id", hex)
	}
	return plumbing.NewHash(hex), nil
}

// ParseTree parses a hex id; empty is the zero id.
func ParseTree(id string) (plumbing.Hash, error) {
	if id == "" {
		return plumbing.ZeroHash, nil
	}
	if !plumbing.IsHash(id) {
		return plumbing.ZeroHash, fmt.Errorf("%q is no object id", gitname.Clip(id, 64))
	}
	return plumbing.NewHash(id), nil
}
