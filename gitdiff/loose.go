package gitdiff

import (
	"errors"
	"fmt"
	"io/fs"

	"sandboxrun/gitdiff/gitfile"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// objectSize is the size of an object of one object directory. go-git leaves the file of a loose object open when it reads the
// size, until the memory is collected: a change of many new files would use up the files that a process may have open.
func objectSize(dir string, st *filesystem.ObjectStorage, id plumbing.Hash) (int64, error) {
	hex := id.String()
	f, err := gitfile.Open(dir, hex[:2]+"/"+hex[2:])
	if errors.Is(err, fs.ErrNotExist) {
		return st.EncodedObjectSize(id) // it may be in a pack
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r, err := objfile.NewReader(f)
	if err != nil {
		return 0, fmt.Errorf("object %s: %w", id, err)
	}
	_, size, err := r.Header()
	if err = errors.Join(err, r.Close()); err != nil {
		return 0, fmt.Errorf("object %s: %w", id, err)
	}
	return size, nil
}
