package review

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"sandboxrun/gitdiff"
	"sandboxrun/runner/state"
)

// Side says which of the two trees of a change is meant.
type Side string

// The sides of a change.
const (
	Base Side = "base" // what the run began from
	Head Side = "head" // what it left
)

const (
	// MaxFile bounds the content of a file, in bytes.
	MaxFile = 5 << 20
	// maxWay bounds the content together with the directories on the way to it.
	maxWay = 16 << 20
)

// ErrTooLarge is returned for a file of more than [MaxFile] bytes.
var ErrTooLarge = fmt.Errorf("the file has more than %d bytes", MaxFile)

// ErrWithheld is returned for the tree of a run that shows none: it left none, or its change holds a secret.
var ErrWithheld = errors.New("the run left no tree, or its change holds a secret")

// ErrGone is returned where the objects of the run can no longer be read.
var ErrGone = errors.New("the repository or the objects of the run are no longer there")

// ReadFile returns the content of a file of one of the two trees; path is raw. Errors are [ErrNotEnded], [ErrTooLarge],
// [ErrGone], [ErrWithheld], a [*gitdiff.NotFileError] for what is no file, or wrap [fs.ErrNotExist].
func ReadFile(ctx context.Context, st *state.State, dir *state.RunDir, side Side, path string) (content []byte, err error) {
	res, err := result(dir)
	if err != nil {
		return nil, err
	}
	p, err := dir.Plan()
	if err != nil {
		return nil, err
	}
	repo, err := gitdiff.Open(p.RepoRoot)
	if err != nil {
		return nil, errors.Join(ErrGone, err)
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	objects, err := gitdiff.NewStore(st.TreesDir()).For(repo)
	if err != nil {
		return nil, errors.Join(ErrGone, err)
	}
	defer func() { err = errors.Join(err, objects.Close()) }()
	tree := res.Git.Tree
	if side == Base {
		if tree, err = objects.Tree(ctx, res.Git.BaseCommit); err != nil {
			return nil, errors.Join(ErrGone, err)
		}
	} else if tree == "" || res.Git.Patch == "" && len(res.FilesChanged) > 0 {
		return nil, ErrWithheld
	}
	content, err = objects.Files(1, maxWay).Read(ctx, tree, path)
	var (
		budget *gitdiff.BudgetError
		no     *gitdiff.NotFileError
	)
	switch {
	case errors.As(err, &budget), len(content) > MaxFile:
		return nil, ErrTooLarge
	case err == nil, errors.As(err, &no), errors.Is(err, fs.ErrNotExist), context.Cause(ctx) != nil:
		return content, err
	}
	return nil, errors.Join(ErrGone, err)
}
