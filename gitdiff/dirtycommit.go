package gitdiff

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// dirtyMessage is the message of a commit of uncommitted changes.
const dirtyMessage = "Uncommitted changes\n"

// DirtyCommit stores the state of the work tree as a commit on top of head, its HEAD, and returns it: tracked files as they
// are on disk, those that are not ignored as well, submodules and sparse entries as the index has them. Nested
// repositories, FIFOs and other devices are left out. Bytes are stored as they are. Author and time are fixed, so that
// the same state gives the same commit; a state that is head's gives head. The commit is in the store only.
func (o *Objects) DirtyCommit(ctx context.Context, r *Repo, head Commit) (Commit, error) {
	c, err := o.dirtyCommit(ctx, r, head)
	if err != nil {
		return Commit{}, fmt.Errorf("store uncommitted changes: %w", err)
	}
	return c, nil
}

func (o *Objects) dirtyCommit(ctx context.Context, r *Repo, head Commit) (Commit, error) {
	parent, err := parseID(head.ID)
	if err != nil || r.bare {
		return head, err
	}
	idx, err := readIndex(r.gitDir)
	if err != nil {
		return Commit{}, err
	}
	d := &dirtyFiles{blobs: &capturer{captureSource: captureSource{storer: o.st}, buf: make([]byte, 64<<10)}}
	if err := walkWorkTree(ctx, r, idx, d); err != nil {
		return Commit{}, err
	}
	slices.SortFunc(d.files, func(a, b listed) int { return cmp.Compare(a.path, b.path) })
	tree, err := o.plant(d.files, "")
	if err != nil || tree.String() == head.Tree {
		return head, err
	}
	who := object.Signature{Name: privateName, Email: privateEmail, When: head.Time.UTC().Truncate(time.Second)}
	commit := &object.Commit{Author: who, Committer: who, Message: dirtyMessage, TreeHash: tree, ParentHashes: []plumbing.Hash{parent}}
	obj := o.st.NewEncodedObject()
	if err := commit.Encode(obj); err != nil {
		return Commit{}, err
	}
	id, err := o.st.SetEncodedObject(obj)
	return Commit{ID: id.String(), Tree: tree.String(), Time: who.When}, err
}

// plant writes the trees of sorted files that all are below prefix, and returns the uppermost.
func (o *Objects) plant(files []listed, prefix string) (plumbing.Hash, error) {
	var entries []object.TreeEntry
	for i := 0; i < len(files); {
		f := &files[i]
		name, _, deeper := strings.Cut(f.path[len(prefix):], "/")
		if !deeper {
			entries = append(entries, object.TreeEntry{Name: name, Mode: f.mode, Hash: f.hash})
			i++
			continue
		}
		below := prefix + name + "/"
		end := i
		for end < len(files) && strings.HasPrefix(files[end].path, below) {
			end++
		}
		id, err := o.plant(files[i:end], below)
		if err != nil {
			return id, err
		}
		entries = append(entries, object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: id})
		i = end
	}
	return writeTree(o.st, entries, plumbing.ZeroHash)
}

// dirtyFiles is a work tree visitor that stores what is new and lists everything.
type dirtyFiles struct {
	blobs *capturer
	files []listed
}

func (d *dirtyFiles) same(e *index.Entry) error {
	d.files = append(d.files, listed{e.Name, fileMode(e.Mode), e.Hash})
	return nil
}

func (d *dirtyFiles) gone(*index.Entry) error { return nil }

func (d *dirtyFiles) tracked(e *index.Entry, f *workFile) error { return d.store(f, e.Hash) }

func (d *dirtyFiles) untracked(f *workFile) error { return d.store(f, plumbing.ZeroHash) }

func (d *dirtyFiles) nested(string) error { return nil }

func (d *dirtyFiles) store(f *workFile, known plumbing.Hash) error {
	return f.read(func(r io.ReadSeeker, size int64) error {
		id, err := d.blobs.store(r, size, known)
		d.files = append(d.files, listed{f.path, f.mode, id})
		return err
	})
}
