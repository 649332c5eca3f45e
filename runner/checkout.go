package runner

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/change"
	"sandboxrun/gitdiff/dirty"
	"sandboxrun/gitdiff/workspace"
	"sandboxrun/internal/step"
	"sandboxrun/runner/box"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
)

var (
	stepStore = step.Define("store/open")
	stepDirt  = step.Define("dirt/look")
)

// Pristine bases that nobody used for long, or that take more room than this,
// are removed; making one again costs one checkout.
const (
	baseMaxAge   = 30 * 24 * time.Hour
	baseMaxBytes = 20 << 30
)

// checkout makes the throwaway tree of the working box.
func checkout(ctx context.Context, x *run) error {
	if err := x.trees.CheckFreeSpace(); err != nil {
		return err
	}
	store := gitdiff.NewStore(x.r.o.State.TreesDir())
	step.Before(stepStore)
	objects, err := store.For(x.repo)
	step.After(stepStore)
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	x.trees.Objects = objects
	step.Before(stepDirt)
	err = x.searchDirt(ctx)
	step.After(stepDirt)
	if err != nil {
		return err
	}
	x.record.Steps.WriteBase(x.base)
	if x.trees.Working, err = x.trees.Open(ctx, box.RoleAgent, x.under(), x.base.Tree); err != nil {
		return err
	}
	if x.session != nil {
		x.session.Begun = true
	}
	if _, err := workspace.Evict(ctx, store, baseMaxAge, baseMaxBytes); err != nil {
		x.record.Log.Remark("old bases could not be removed: %v", err)
	}
	return nil
}

// dirtSearch is a search for the user's uncommitted changes under way. It reads the
// whole working tree, so it runs next to the work instead of before it.
type dirtSearch struct {
	cancel context.CancelFunc
	done   chan struct{}
	dirt   dirty.State
	err    error
}

// searchDirt takes the user's uncommitted changes along, or begins to search for
// some that the run does not see.
func (x *run) searchDirt(ctx context.Context) error {
	if x.plan.IncludeDirty {
		base, err := dirty.Commit(ctx, x.trees.Objects, x.repo, x.base)
		if err != nil {
			return fmt.Errorf("include uncommitted changes: %w", err)
		}
		committed := x.base
		x.base = base
		return x.reportIncluded(ctx, committed.Tree)
	}
	sctx, cancel := context.WithCancel(ctx)
	s := &dirtSearch{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.dirt, s.err = dirty.Read(sctx, x.repo)
	}()
	x.dirt = s
	return nil
}

// reportIncluded says that the run starts from more than what is committed: whoever merges its branch gets that, too.
func (x *run) reportIncluded(ctx context.Context, committed string) error {
	if x.base.Tree == committed {
		return nil
	}
	diff, err := change.List(ctx, x.trees.Objects, committed, x.base.Tree)
	if err != nil {
		return fmt.Errorf("list uncommitted changes: %w", err)
	}
	var names []string
	for _, c := range diff.Changes[:min(len(diff.Changes), 5)] {
		names = append(names, excerpt.Clip(c.Path, 200))
	}
	x.report.add(issue(document.CodeDirtyIncluded, fmt.Sprintf("the run starts from %d uncommitted or untracked files, and its branch holds them (%s)",
		len(diff.Changes), strings.Join(names, ", "))))
	return nil
}

// reportDirt waits for the search and reports what it found. A run that was
// stopped does not wait for it.
func (x *run) reportDirt() {
	s := x.dirt
	if s == nil {
		return
	}
	if x.report.halted() {
		s.cancel()
	}
	<-s.done
	s.cancel()
	text := s.dirt.Text()
	if s.err != nil {
		text = "the working tree could not be searched: " + s.err.Error()
	}
	if text == "" || s.err != nil && x.report.halted() {
		return
	}
	i := issue(document.CodeDirtyTree, "uncommitted changes are not part of this run: "+text)
	if x.session.Continued() {
		i = i.withAction("commit them; a session goes on from its own files")
	}
	x.report.add(i)
}
