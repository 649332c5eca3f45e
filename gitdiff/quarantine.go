package gitdiff

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// quarantine is a git object storage that reads the store's own objects and the user's, and writes to the store only:
// what a box made reaches the user's repository when it is landed and not before.
type quarantine struct {
	user *reader
	mu   sync.Mutex // go-git's storage is not safe for concurrent reading
	own  *filesystem.ObjectStorage
	dir  string // of the store's own objects
}

var _ storer.EncodedObjectStorer = (*quarantine)(nil)

func (q *quarantine) NewEncodedObject() plumbing.EncodedObject { return new(plumbing.MemoryObject) }

// SetEncodedObject writes an object to the store, unless it or the user has it. Writing needs no lock: every object is
// a new temporary file that is renamed.
func (q *quarantine) SetEncodedObject(o plumbing.EncodedObject) (plumbing.Hash, error) {
	h := o.Hash()
	if err := q.HasEncodedObject(h); !errors.Is(err, plumbing.ErrObjectNotFound) {
		return h, err
	}
	return q.own.SetEncodedObject(o)
}

// EncodedObject asks the user's repository first, which has nearly all that is read.
func (q *quarantine) EncodedObject(t plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	obj, err := q.user.EncodedObject(t, h)
	if !errors.Is(err, plumbing.ErrObjectNotFound) {
		return obj, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.own.EncodedObject(t, h)
}

func (q *quarantine) HasEncodedObject(h plumbing.Hash) error {
	err := q.user.find(func(s *source) error { return s.HasEncodedObject(h) })
	if !errors.Is(err, plumbing.ErrObjectNotFound) {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.own.HasEncodedObject(h)
}

func (q *quarantine) EncodedObjectSize(h plumbing.Hash) (size int64, err error) {
	err = q.user.find(func(s *source) (err error) {
		size, err = objectSize(s.dir, s.ObjectStorage, h)
		return err
	})
	if !errors.Is(err, plumbing.ErrObjectNotFound) {
		return size, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return objectSize(q.dir, q.own, h)
}

// IterEncodedObjects goes over the store's own objects, not the user's.
func (q *quarantine) IterEncodedObjects(t plumbing.ObjectType) (storer.EncodedObjectIter, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.own.IterEncodedObjects(t)
}

// AddAlternate is refused: what the store borrows from is decided when it is opened.
func (q *quarantine) AddAlternate(string) error { return billy.ErrReadOnly }

func (q *quarantine) Close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.own.Close()
}

// LazyWriter writes an object to the store as it comes.
func (q *quarantine) LazyWriter() (io.WriteCloser, func(plumbing.ObjectType, int64) error, error) {
	return q.own.LazyWriter()
}

// hiddenAlternates hides a repository's alternates from go-git, which would open them anew for each object it misses.
type hiddenAlternates struct{ billy.Filesystem }

func (f hiddenAlternates) Open(name string) (billy.File, error) {
	if strings.HasSuffix(name, "info/alternates") {
		return nil, fs.ErrNotExist
	}
	return f.Filesystem.Open(name)
}
