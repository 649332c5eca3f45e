package gitdiff

import (
	"context"
	"errors"
	"fmt"
)

// ErrTreeUnstable says that something still wrote to a tree while it was captured: the box was not gone.
var ErrTreeUnstable = errors.New("tree changed while it was read")

// Snapshot is the content of a workspace as a git tree, and what could not be part of it.
type Snapshot struct {
	Tree     string    // hex id of the tree, stored in the runner's own object store
	Findings []Finding // in the order of the walk; at most [Budget.Findings]
	Dropped  int       // findings beyond that
	Ignored  int       // new entries the base's ignore rules kept out, a directory counting once
	Files    int       // entries looked at
	Bytes    int64     // bytes read from files
}

// Snapshot captures the workspace. The box must be gone: what still changes gives [ErrTreeUnstable]. Content that is not a
// file, a link or a directory is left out and named in a finding; a tree above the budget is a [*BudgetError].
func (w *Workspace) Snapshot(ctx context.Context, b Budget) (*Snapshot, error) {
	began, err := treeID(w.spec.Tree)
	if err != nil {
		return nil, fmt.Errorf("snapshot workspace: %w", err)
	}
	s, err := capture(ctx, captureSource{
		root:     w.root,
		overlay:  w.layout == LayoutOverlay,
		storer:   w.objects.storer(),
		baseTree: began,
		lower:    w.baseTree,
		stat:     w.stat,
		budget:   b,
	})
	if err != nil {
		return nil, fmt.Errorf("snapshot workspace: %w", err)
	}
	return s, nil
}
