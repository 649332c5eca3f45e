package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"sandboxrun/gitdiff"
	"sandboxrun/runner/step"
)

// landingLookBound is how long looking at the repository of a dead run may take.
const landingLookBound = 2 * time.Minute

// settleLost writes the result of a run whose runner died, and says whether
// there was one to write. What the run had measured is in its journal; nothing
// of it is vouched for here. What it had captured and what it had landed is
// read from git anew.
func (r *Runner) settleLost(ctx context.Context, dir *RunDir) (settled bool, err error) {
	remove := func() error { return r.o.State.RemoveTrees(dir.ID()) }
	if err := step.Bare(stepReapTrees, remove); err != nil {
		return false, err
	}
	if never, err := unbegun(dir); never || err != nil {
		if never {
			err = step.Bare(stepReapDiscard, dir.Discard)
		}
		return false, err
	}
	if err := dir.clearHalves(); err != nil {
		return false, err
	}
	x, err := r.lostRun(ctx, dir)
	if err != nil {
		return false, err
	}
	x.recover(ctx)
	if ctx.Err() != nil { // not looked at, which must not be told as not there
		return false, errors.Join(context.Cause(ctx), x.closeJournals())
	}
	x.judgeCommands()
	x.timing["total"] = time.Since(x.started).Milliseconds()
	res := clean(x.secrets, x.result())
	amend := func() error { return x.amendSession(ctx, res.Status) }
	if err := step.Bare(stepReapSession, amend); err != nil {
		return false, errors.Join(err, x.closeJournals())
	}
	x.log.emit("settle", EventRunEnded, map[string]any{"status": res.Status, "summary": res.Summary})
	err = dir.Finish(res, x.closeJournals)
	return err == nil, err
}

// lostRun is a dead run as far as it is known without looking at its change.
func (r *Runner) lostRun(ctx context.Context, dir *RunDir) (*run, error) {
	plan, err := dir.Plan()
	if err != nil {
		return nil, err
	}
	x := &run{ready: &ready{}, r: r, plan: plan, id: dir.ID(), taskID: firstSet(plan.TaskID, dir.ID()), dir: dir, timing: map[string]int64{}}
	if x.started, err = dir.Started(); err != nil {
		return nil, err
	}
	x.findings.add(fatal, Issue{Type: IssueEnv, Code: CodeRunnerLost,
		Description:     "the runner ended before the run did; a later one cleared away and wrote this result",
		SuggestedAction: "run the task again; the events tell how far it came"})
	if err := x.openJournals(nil); err != nil {
		return nil, err
	}
	if plan.Agent != nil {
		if x.key, x.keyless = r.o.Config.Key(plan.Agent.Provider, r.o.Getenv); x.keyless != nil {
			x.key = nil
		}
	}
	x.learnSecrets(ctx)
	return x, nil
}

// recover finds out what of the run exists: the branch it made, the change it
// captured, its place in a session. Failing at that is told and no more: a run
// must be settled also when its repository is gone.
func (x *run) recover(ctx context.Context) {
	record, err := x.dir.steps()
	if err != nil {
		x.unrecovered("its journal of steps cannot be read", err)
		return
	}
	x.base = record.base
	x.recoverSession()
	if record.landing.commit == "" && record.tree == "" {
		return
	}
	ctx, cancel := context.WithTimeoutCause(ctx, landingLookBound, fmt.Errorf("looking at it took longer than %s", landingLookBound))
	defer cancel()
	if x.repo, err = gitdiff.Open(x.plan.RepoRoot); err != nil {
		x.recoverByWord(record.landing, err)
		return
	}
	err = errors.Join(
		step.Bare(stepReapLanding, func() error { return x.recoverLanding(record.landing) }),
		step.Bare(stepReapChange, func() error { return x.recoverChange(ctx, record.tree) }),
		x.repo.Close())
	if err != nil {
		x.unrecovered("not all that it left could be looked at", err)
	}
}

func (x *run) unrecovered(what string, err error) {
	x.findings.add(note, Issue{Type: IssueEnv, Code: CodeRunnerLost, Description: what + ": " + err.Error(),
		SuggestedAction: "look for a branch below " + gitdiff.BranchPrefix + " yourself"})
}

// recoverByWord takes the dead run's word for what it landed.
func (x *run) recoverByWord(l landingRecord, err error) {
	if l.done {
		x.commit, x.branch = l.commit, l.branch
	}
	x.unrecovered("its repository cannot be opened", err)
}

// recoverLanding names the branch that the dead run made, and removes what it
// left half-made in the user's repository. It never lands anything.
func (x *run) recoverLanding(l landingRecord) error {
	if l.commit == "" {
		return nil
	}
	there, err := x.repo.Landed(l.commit, l.branch)
	if there || l.done {
		x.commit, x.branch = l.commit, l.branch
	}
	return err
}

// recoverChange finds the change of the captured tree and writes its patch anew:
// the one that is there may be half of it.
func (x *run) recoverChange(ctx context.Context, tree string) error {
	if tree == "" {
		return nil
	}
	if x.keyless != nil { // nobody can tell whether the change holds it
		return fmt.Errorf("its change is not shown without the provider's key: %w", x.keyless)
	}
	if x.plan.forgotten() { // nor whether it holds those
		return errors.New("its change is not shown: tokens of the task may be in it, and nobody kept those")
	}
	objects, err := gitdiff.NewStore(x.r.o.State.TreesDir()).For(x.repo)
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	defer func() { _ = objects.Close() }() // nothing was written
	diff, err := objects.Diff(ctx, x.base.Tree, tree)
	if err != nil {
		return fmt.Errorf("change of the captured tree: %w", err)
	}
	if err := os.Remove(x.dir.PatchPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("replace patch: %w", err)
	}
	x.diff, x.snapshot = diff, &gitdiff.Snapshot{Tree: tree}
	if len(diff.Changes) == 0 {
		return nil
	}
	if err = x.inspect(ctx); err == nil {
		err = x.writePatch(ctx)
	}
	if err != nil { // what was not looked through is not shown
		x.diff, x.snapshot = nil, nil
		return errors.Join(err, os.RemoveAll(x.dir.PatchPath()))
	}
	return nil
}
