package dirty

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/index"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// dirtyMessage is the message of a commit of uncommitted changes.
const dirtyMessage = "Uncommitted changes\n"

// Commit stores the state of the work tree as a commit on top of head, its HEAD, and returns it: tracked files as they
// are on disk, those that are not ignored as well, submodules and sparse entries as the index has them. Nested
// repositories, FIFOs and other devices are left out. Bytes are stored as they are. Author and time are fixed, so that
// the same state gives the same commit; a state that is head's gives head. The commit is in the store only.
func Commit(ctx context.Context, o *gitdiff.Objects, r *gitdiff.Repo, head gitdiff.Commit) (gitdiff.Commit, error) {
	c, err := commit(ctx, o, r, head)
	if err != nil {
		return gitdiff.Commit{}, fmt.Errorf("store uncommitted changes: %w", err)
	}
	return c, nil
}

func commit(ctx context.Context, o *gitdiff.Objects, r *gitdiff.Repo, head gitdiff.Commit) (gitdiff.Commit, error) {
	parent, err := gitobj.ParseID(head.ID)
	if err != nil || r.Bare() {
		return head, err
	}
	idx, err := readIndex(r.GitDir())
	if err != nil {
		return gitdiff.Commit{}, err
	}
	d := &dirtyFiles{blobs: o.Blobs()}
	if err := walkWorkTree(ctx, r, idx, d); err != nil {
		return gitdiff.Commit{}, err
	}
	slices.SortFunc(d.files, func(a, b gitobj.File) int { return cmp.Compare(a.Path, b.Path) })
	tree, err := gitobj.WriteTrees(o.Storer(), d.files, "")
	if err != nil || tree.String() == head.Tree {
		return head, err
	}
	who := object.Signature{Name: gitdiff.AuthorName, Email: gitdiff.AuthorEmail, When: head.Time.UTC().Truncate(time.Second)}
	commit := &object.Commit{Author: who, Committer: who, Message: dirtyMessage, TreeHash: tree, ParentHashes: []plumbing.Hash{parent}}
	obj := o.Storer().NewEncodedObject()
	if err := commit.Encode(obj); err != nil {
		return gitdiff.Commit{}, err
	}
	id, err := o.Storer().SetEncodedObject(obj)
	return gitdiff.Commit{ID: id.String(), Tree: tree.String(), Time: who.When}, err
}

// dirtyFiles is a work tree visitor that stores what is new and lists everything.
type dirtyFiles struct {
	blobs *gitdiff.BlobWriter
	files []gitobj.File
}

func (d *dirtyFiles) same(e *index.Entry) error {
	d.files = append(d.files, gitobj.File{Path: e.Name, Mode: gitobj.FileMode(e.Mode), Hash: e.Hash})
	return nil
}

func (d *dirtyFiles) gone(*index.Entry) error { return nil }

func (d *dirtyFiles) tracked(e *index.Entry, f *workFile) error { return d.store(f, e.Hash) }

func (d *dirtyFiles) untracked(f *workFile) error { return d.store(f, plumbing.ZeroHash) }

func (d *dirtyFiles) nested(string) error { return nil }

func (d *dirtyFiles) store(f *workFile, known plumbing.Hash) error {
	return f.read(func(r io.ReadSeeker, size int64) error {
		id, err := d.blobs.Write(r, size, known)
		d.files = append(d.files, gitobj.File{Path: f.path, Mode: f.mode, Hash: id})
		return err
	})
}
