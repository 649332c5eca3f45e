package check

import (
	"context"
	"errors"
	"fmt"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/change"
)

// Evidence is what the runner itself measured of a run.
type Evidence struct {
	Changes  []change.Change   // base tree to captured tree
	Findings []gitdiff.Finding // oddities of the captured tree
	Files    *Files            // contents of both trees
	Secrets  *Secrets          // what the search for secrets found; nil where there was none
	GoAPI    *GoAPI            // what callers have of Go packages; nil where no check asked for it
}

// Secrets is what a search of a change for secrets found.
type Secrets struct {
	Paths      []string // where the change adds what is, or looks like, a secret
	Further    int      // places that are not listed
	Incomplete string   // why not all of the change was searched, "" where it was
}

// Tree is one of the two trees of a run.
type Tree int

// The trees of a run.
const (
	Base     Tree = iota // what the work started from
	Captured             // what it left behind
)

// Bounds of what all checks of one run read together. Contents are held in memory, one file at a time.
const (
	maxFilesRead = 10_000
	maxBytesRead = 64 << 20 // contents, and the directories on the way to them
)

// Files reads the files of both trees of a run within the budget of that run.
type Files struct {
	read func(ctx context.Context, from Tree, path string) ([]byte, error)
}

// NewFiles returns the files of a run's trees by their hex ids. It is made once for a run, whose checks share the budget.
func NewFiles(o *gitdiff.Objects, base, captured string) *Files {
	return newFiles(o, base, captured, maxFilesRead, maxBytesRead)
}

func newFiles(o *gitdiff.Objects, base, captured string, files int, bytes int64) *Files {
	trees, reader := [2]string{Base: base, Captured: captured}, o.Files(files, bytes)
	return &Files{func(ctx context.Context, from Tree, path string) ([]byte, error) {
		return reader.Read(ctx, trees[from], path)
	}}
}

// ReadFile returns the content of one file of a tree, which strangers may have written. It reads the git objects of that
// tree, never a work tree, and follows no link. The path is spelled as in [change.Change.Name].
//
// The error wraps [fs.ErrNotExist] where nothing has that path, and is a [*gitdiff.NotFileError] for a symbolic link, a
// directory and a submodule: a check decides what that means for it. Any other error a check returns as it is; [Judge]
// makes a verdict of a spent budget.
func (e Evidence) ReadFile(ctx context.Context, from Tree, path string) ([]byte, error) {
	if e.Files == nil {
		return nil, errors.New("this evidence has no trees to read from")
	}
	content, err := e.Files.read(ctx, from, path)
	if err != nil {
		return nil, fmt.Errorf("read file for a check: %w", err)
	}
	return content, nil
}

// Judge has a check judge the evidence. Evidence that is too large to be read as a whole is [Unverifiable].
func Judge(ctx context.Context, c Check, e Evidence) (Verdict, error) {
	v, err := c.Check(ctx, e)
	if budget, spent := errors.AsType[*gitdiff.BudgetError](err); spent {
		return Verdict{Verdict: Unverifiable, Evidence: fmt.Sprintf("not judged: its checks would read %s", budget)}, nil
	}
	return v, err
}
