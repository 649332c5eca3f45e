package workspace

import (
	"context"
	"errors"
	"fmt"

	"sandboxrun/gitdiff/capture"
	"sandboxrun/gitdiff/gitobj"
)

// Source is what a capture of the workspace reads. The box must be gone before it is captured: a tree that still changes gives
// [gitdiff.ErrTreeUnstable]. A workspace over another one cannot be captured.
func (w *Workspace) Source(b capture.Budget) (capture.Source, error) {
	if w.spec.Over != nil {
		return capture.Source{}, errors.New("snapshot workspace: it lies over another one, whose files no tree describes")
	}
	began, err := gitobj.ParseTree(w.spec.Tree)
	if err != nil {
		return capture.Source{}, fmt.Errorf("snapshot workspace: %w", err)
	}
	return capture.Source{
		Root:     w.root,
		Marks:    w.marks,
		Objects:  w.objects,
		BaseTree: began,
		Lower:    w.baseTree,
		Stat:     w.stat,
		Budget:   b,
	}, nil
}

// Snapshot captures the workspace in this process. Content that is not a file, a link or a directory is left out and named in a
// finding; a tree above the budget is a [*gitdiff.BudgetError].
func (w *Workspace) Snapshot(ctx context.Context, b capture.Budget) (*capture.Snapshot, error) {
	src, err := w.Source(b)
	if err != nil {
		return nil, err
	}
	s, err := capture.Capture(ctx, src)
	if err != nil {
		return nil, fmt.Errorf("snapshot workspace: %w", err)
	}
	return s, nil
}
