package workspace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"sandboxrun/gitdiff"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// BaseObjects is where a box finds the objects of its private repository: [Mount.Binds] puts them there.
const BaseObjects = "/.sandboxrun/base.git/objects"

const privateMessage = "The tree this task starts from\n"

// privateConfig is the configuration of the repository in the box. An index entry is compared by modification time and
// size alone, as nothing else of a file survives being copied or seen through an overlay.
const privateConfig = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
	logallrefupdates = true
	checkStat = minimal
	trustctime = false
[gc]
	auto = 0
[maintenance]
	auto = false
[user]
	name = ` + gitdiff.AuthorName + `
	email = ` + gitdiff.AuthorEmail + `
`

// privateCommit encodes the only commit of the repository in the box: the base's tree without its history. All of it
// is fixed by the tree and the time, so that every box over a base has the same commit.
func privateCommit(tree plumbing.Hash, when time.Time) ([]byte, plumbing.Hash, error) {
	who := object.Signature{Name: gitdiff.AuthorName, Email: gitdiff.AuthorEmail, When: when}
	obj := new(plumbing.MemoryObject)
	c := &object.Commit{Author: who, Committer: who, Message: privateMessage, TreeHash: tree}
	if err := c.Encode(obj); err != nil {
		return nil, plumbing.ZeroHash, fmt.Errorf("encode commit: %w", err)
	}
	r, err := obj.Reader()
	if err != nil {
		return nil, plumbing.ZeroHash, err
	}
	raw, err := io.ReadAll(r)
	return raw, obj.Hash(), errors.Join(err, r.Close())
}

// privateGit makes the repository of a box in the new directory dir, owned by own. Its objects are the base's, read
// through [BaseObjects]; what the box commits goes into dir and is never read.
func privateGit(dir string, b *base, own owner) error {
	for _, sub := range []string{"", "info", "objects", "objects/info", "objects/pack", "refs", "refs/heads", "refs/tags"} {
		if err := privateDir(filepath.Join(dir, sub), own); err != nil {
			return err
		}
	}
	files := [][2]string{
		{"HEAD", "ref: refs/heads/main\n"},
		{"config", privateConfig},
		{"description", "The private repository of a throwaway box.\n"},
		{"objects/info/alternates", BaseObjects + "\n"},
		{"refs/heads/main", b.Private + "\n"},
	}
	for _, f := range files {
		if err := privateFile(filepath.Join(dir, f[0]), own, func(w *os.File) error {
			_, err := w.WriteString(f[1])
			return err
		}); err != nil {
			return err
		}
	}
	return privateFile(filepath.Join(dir, "index"), own, func(w *os.File) (err error) {
		in, err := os.Open(b.indexFile())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, in.Close()) }()
		_, err = io.Copy(w, in)
		return err
	})
}

func privateDir(path string, own owner) error {
	if err := os.Mkdir(path, 0o755); err != nil {
		return err
	}
	return errors.Join(os.Chmod(path, 0o755), os.Lchown(path, own.uid, own.gid))
}

func privateFile(path string, own owner, fill func(*os.File) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	err = errors.Join(fill(f), own.give(int(f.Fd()), 0o644))
	return errors.Join(err, f.Close())
}
