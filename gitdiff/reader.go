package gitdiff

import (
	"errors"
	"io/fs"
	"slices"
	"sync"

	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

const (
	objectCacheBytes = 64 << 20 // recently read objects and delta bases
	maxRetired       = 4        // replaced sources kept for the packs they hold open
	maxVanished      = 20       // times in a row that a pack may vanish before it is read
)

// reader reads git objects from a user's object directory and all it borrows from. It is safe for concurrent use,
// which go-git's storage is not, and notices when the packs are replaced under it, as git gc does.
type reader struct {
	mu      sync.Mutex
	cache   cache.Object
	sources []*source // one for each directory, nearest first
	retired []*source // replaced ones: packs they have open can be read although they were deleted
}

type source struct {
	*filesystem.ObjectStorage
	dir   string
	packs []plumbing.Hash // those known when the storage was opened
}

func newReader(objects string) (*reader, error) {
	dirs, err := objectDirs(objects)
	if err != nil {
		return nil, err
	}
	r := &reader{cache: cache.NewObjectLRU(objectCacheBytes)}
	for _, dir := range dirs {
		s, err := r.open(dir)
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		r.sources = append(r.sources, s)
	}
	return r, nil
}

func (r *reader) open(dir string) (*source, error) {
	st := filesystem.NewObjectStorageWithOptions(dotgit.New(newReadOnlyFS(dir, "objects")), r.cache,
		filesystem.Options{KeepDescriptors: true, LargeObjectThreshold: gitobj.StreamedBytes})
	packs, err := st.ObjectPacks()
	return &source{st, dir, packs}, err
}

// refresh reopens the sources whose packs have changed, or all of them, and reports whether there was one. The caller
// holds the lock.
func (r *reader) refresh(all bool) (bool, error) {
	changed := false
	for i, s := range r.sources {
		packs, err := s.ObjectPacks()
		if err != nil {
			return false, err
		}
		if !all && slices.Equal(packs, s.packs) {
			continue
		}
		fresh, err := r.open(s.dir)
		if err != nil {
			return false, err
		}
		r.sources[i], r.retired, changed = fresh, append(r.retired, s), true
	}
	if n := len(r.retired) - maxRetired; n > 0 {
		for _, s := range r.retired[:n] {
			if err := s.Close(); err != nil {
				return false, err
			}
		}
		r.retired = r.retired[n:]
	}
	return changed, nil
}

// find asks each source in turn, and all once more after a change of packs. An object that no source has gives
// plumbing.ErrObjectNotFound; a source that fails counts only when no other has the object.
func (r *reader) find(ask func(*source) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for vanished := 0; ; {
		var failed error
		for _, s := range slices.Concat(r.sources, r.retired) {
			err := ask(s)
			if err == nil {
				return nil
			}
			if failed == nil && !errors.Is(err, plumbing.ErrObjectNotFound) {
				failed = err
			}
		}
		// The list of packs may be the one that was seen when the source was opened although its index was read from
		// others meanwhile: git names a pack by what it holds.
		gone := failed != nil && isVanished(failed) && vanished < maxVanished
		if gone {
			vanished++
		}
		changed, err := r.refresh(gone)
		if gone && err != nil && isVanished(err) {
			continue
		}
		if err != nil {
			return err
		}
		if !changed {
			if failed != nil {
				return failed
			}
			return plumbing.ErrObjectNotFound
		}
	}
}

// isVanished reports whether an error says that a file was removed between its listing and its opening.
func isVanished(err error) bool {
	return errors.Is(err, dotgit.ErrPackfileNotFound) || errors.Is(err, fs.ErrNotExist)
}

// EncodedObject returns an object; the content of a large one is read from disk when its Reader is read.
func (r *reader) EncodedObject(t plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	var obj plumbing.EncodedObject
	err := r.find(func(s *source) (err error) {
		obj, err = s.EncodedObject(t, h)
		return err
	})
	return obj, err
}

// dirs lists the object directories that are read, nearest first.
func (r *reader) dirs() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	dirs := make([]string, len(r.sources))
	for i, s := range r.sources {
		dirs[i] = s.dir
	}
	return dirs
}

// has reports whether there is an object.
func (r *reader) has(id plumbing.Hash) (bool, error) {
	err := r.find(func(from *source) error { return from.HasEncodedObject(id) })
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return false, nil
	}
	return err == nil, err
}

// prefixed returns the ids that begin with the bytes of prefix.
func (r *reader) prefixed(prefix []byte) ([]plumbing.Hash, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []plumbing.Hash
	for _, s := range r.sources {
		hashes, err := s.HashesWithPrefix(prefix)
		if err != nil {
			return nil, err
		}
		all = append(all, hashes...)
	}
	slices.SortFunc(all, func(a, b plumbing.Hash) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(all), nil
}

// Close closes the open pack files.
func (r *reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	for _, s := range slices.Concat(r.sources, r.retired) {
		err = errors.Join(err, s.Close())
	}
	return err
}
