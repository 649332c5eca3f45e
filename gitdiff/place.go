package gitdiff

import (
	"errors"
	"fmt"
	"path/filepath"

	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
)

// Place says where [Objects] are, so that another process can open them without the repository they belong to.
type Place struct {
	Store    string   // directory of the [Store]
	Key      string   // names the user's repository in the store
	Borrowed []string // object directories of the user, nearest first, symlinks resolved; they are only read
}

// Place says where the objects are.
func (o *Objects) Place() Place {
	return Place{Store: o.in.dir, Key: o.key, Borrowed: o.st.user.dirs()}
}

// Written is the directory that new objects are written to. Nothing else of a place is written.
func (p Place) Written() string { return filepath.Join(p.Store, "stores", p.Key+".git", "objects") }

// OpenAt opens the objects of a place, which must be there. Closing them closes all of them.
func OpenAt(p Place) (*Objects, error) {
	user := &reader{cache: cache.NewObjectLRU(objectCacheBytes)}
	for _, dir := range p.Borrowed {
		s, err := user.open(dir)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open objects: %w", err), user.Close())
		}
		user.sources = append(user.sources, s)
	}
	o := newObjects(NewStore(p.Store), p.Key, user)
	o.release = user.Close
	return o, nil
}

// CheckTree says why there is no tree object of a hex id, in the user's repository or in the store; nil where there is one.
func (o *Objects) CheckTree(hex string) error {
	id, err := gitobj.ParseID(hex)
	if err != nil {
		return err
	}
	if _, err := o.st.EncodedObject(plumbing.TreeObject, id); err != nil {
		return gitobj.ReadError(id, err)
	}
	return nil
}
