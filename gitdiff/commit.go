package gitdiff

import (
	"context"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Name and address of the author and committer of every commit this program makes.
const (
	AuthorName  = "sandboxrun"
	AuthorEmail = "sandboxrun@localhost"
)

// Commit is a commit of a repository and the tree it records.
type Commit struct {
	ID   string    // hex object id of the commit
	Tree string    // hex object id of its tree
	Time time.Time // the committer's time
}

// commitOf is the public form of a decoded commit.
func commitOf(c *object.Commit) Commit {
	return Commit{ID: c.Hash.String(), Tree: c.TreeHash.String(), Time: c.Committer.When}
}

// Tree returns the tree of a commit by its full hex id, wherever the commit is known: in the user's repository or in
// the store alone.
func (o *Objects) Tree(ctx context.Context, commit string) (string, error) {
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	c, err := object.GetCommit(o.st, plumbing.NewHash(commit))
	if err != nil {
		return "", fmt.Errorf("read commit %s: %w", commit, err)
	}
	return c.TreeHash.String(), nil
}
