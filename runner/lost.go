package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/land"
	"sandboxrun/internal/step"
	"sandboxrun/runner/box"
	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/mailbox"
	"sandboxrun/runner/reader"
	"sandboxrun/runner/record"
	"sandboxrun/runner/session"
	"sandboxrun/runner/state"
	"sandboxrun/sandbox/egress"
)

var (
	stepReapTrees   = step.Define("reap/trees")
	stepReapLanding = step.Define("reap/landing")
	stepReapChange  = step.Define("reap/change")
	stepReapDiscard = step.Define("reap/discard")
	stepReapSession = step.Define("reap/session")
)

// inspectBound is how long the inspection of a dead run's repository may take.
const inspectBound = 2 * time.Minute

// lostRun is a run whose runner died. What its runner had measured is in its
// journal, and none of it is repeated in the result; what it captured and landed
// is read from git again.
type lostRun struct {
	facts
	r       *Runner
	repo    *gitdiff.Repo // nil where it cannot be opened
	keyless error         // why the provider's key is not known
}

// settleLost writes the result of a run whose runner died, and says whether there
// was one to write.
func (r *Runner) settleLost(ctx context.Context, dir *state.RunDir) (settled bool, err error) {
	step.Before(stepReapTrees)
	err = r.o.State.RemoveTrees(dir.ID())
	step.After(stepReapTrees)
	if err != nil {
		return false, err
	}
	if never, err := unbegun(dir); never || err != nil {
		if never {
			step.Before(stepReapDiscard)
			err = dir.Discard()
			step.After(stepReapDiscard)
		}
		return false, err
	}
	if err := dir.ClearHalves(); err != nil {
		return false, err
	}
	x, err := r.newLostRun(ctx, dir)
	if err != nil {
		return false, err
	}
	if err := x.denyPending(); err != nil {
		return false, errors.Join(err, x.record.Close())
	}
	x.recover(ctx)
	if ctx.Err() != nil { // what was not inspected must not be reported as absent
		return false, errors.Join(context.Cause(ctx), x.record.Close())
	}
	judgeCommands(x.plan, x.evidence, x.change.any(), &x.report)
	res := x.record.Redacted(x.result(box.Planned(x.plan), document.AgentUsage{}))
	step.Before(stepReapSession)
	if x.session != nil {
		err = session.Amend(ctx, r.o.State, x.plan.Session, x.id, res.Status)
	}
	step.After(stepReapSession)
	if err != nil {
		return false, errors.Join(err, x.record.Close())
	}
	err = r.finish(ctx, &x.record, res)
	unsigned := (*state.UnsignedError)(nil)
	return err == nil || errors.As(err, &unsigned), err
}

// newLostRun is a dead run as far as it is known without inspecting its change.
func (r *Runner) newLostRun(ctx context.Context, dir *state.RunDir) (*lostRun, error) {
	plan, err := dir.Plan()
	if err != nil {
		return nil, err
	}
	started, err := dir.Started()
	if err != nil {
		return nil, err
	}
	x := &lostRun{r: r}
	x.facts = facts{identity: newIdentity(dir, plan, started), plan: plan, record: record.Record{Dir: dir}}
	if err := x.record.Open(nil); err != nil {
		return nil, err
	}
	x.report = newReport(x.record.Log, plan.Box.Limits.OutputBytes)
	x.report.add(issue(document.CodeRunnerLost, "the runner ended before the run did; a later one removed its boxes and wrote this result"))
	if c, asked, err := dir.Mailbox().Cancelled(); err == nil && asked {
		x.report.add(issue(document.CodeCancelled, document.Cancelled{By: c.By, Reason: c.Reason}.Error()))
	}
	var key egress.KeyFunc
	if plan.Agent != nil {
		if key, x.keyless = r.o.Config.Key(plan.Agent.Provider, r.o.Getenv); x.keyless != nil {
			key = nil
		}
	}
	_, _ = x.hideSecrets(ctx, r.o, "", key) // x.keyless has why there is no key
	return x, nil
}

// denyPending denies what the agent of the dead run still waited for.
func (x *lostRun) denyPending() error {
	box := x.record.Dir.Mailbox()
	list, err := box.Requests()
	for _, asked := range list {
		if _, answered, gerr := box.Given(asked.ID); answered || gerr != nil {
			continue // nobody takes it any more
		}
		deny := mailbox.Answer{ID: asked.ID, Digest: asked.Digest, Decision: mailbox.Deny, Reason: "the run died", By: "nobody"}
		first, derr := box.Decide(deny)
		if err = errors.Join(err, derr); derr == nil && first.By == deny.By {
			x.record.Log.Emit("agent", journal.ApprovalAnswered{ID: asked.ID, Digest: asked.Digest, Reason: deny.Reason, By: deny.By})
		}
	}
	return err
}

// recover finds out what of the run exists: the branch it made, the change it
// captured, its place in a session. A failure is reported and no more: a run must
// be settled also when its repository is gone.
func (x *lostRun) recover(ctx context.Context) {
	steps, err := x.record.Dir.Steps()
	if err != nil {
		x.unrecovered("its journal of steps cannot be read", err)
		return
	}
	x.base = steps.Base
	if x.plan.Session != "" {
		x.session = session.Recover(x.r.o.State, x.plan.Session, x.id)
	}
	if steps.Landing.Commit == "" && steps.Tree == "" {
		return
	}
	ctx, cancel := context.WithTimeoutCause(ctx, inspectBound, fmt.Errorf("inspecting it took longer than %s", inspectBound))
	defer cancel()
	if x.repo, err = gitdiff.Open(x.plan.RepoRoot); err != nil {
		if steps.Landing.Done { // nobody can check it any more
			x.landed = landing{commit: steps.Landing.Commit, ref: steps.Landing.Branch}
		}
		x.unrecovered("its repository cannot be opened", err)
		return
	}
	step.Before(stepReapLanding)
	err = x.recoverLanding(steps.Landing)
	step.After(stepReapLanding)
	step.Before(stepReapChange)
	err = errors.Join(err, x.recoverChange(ctx, steps.Tree))
	step.After(stepReapChange)
	err = errors.Join(err, x.repo.Close())
	if err != nil {
		x.unrecovered("not all that it left could be inspected", err)
	}
}

func (x *lostRun) unrecovered(what string, err error) {
	x.report.add(issue(document.CodeRunnerLost, what+": "+err.Error()).withSeverity(document.SeverityNote).
		withAction("look for a branch below " + land.BranchPrefix + " yourself"))
}

// recoverLanding names the branch that the dead run made, and removes what it
// left half-made in the user's repository. It never lands anything.
func (x *lostRun) recoverLanding(l state.LandingRecord) error {
	if l.Commit == "" {
		return nil
	}
	there, err := land.Landed(x.repo, l.Commit, l.Branch)
	if there || l.Done {
		x.landed = landing{commit: l.Commit, ref: l.Branch}
	}
	return err
}

// recoverChange finds the change of the captured tree and writes its patch again:
// the one that is there may be half of it.
func (x *lostRun) recoverChange(ctx context.Context, tree string) error {
	if tree == "" {
		return nil
	}
	if x.keyless != nil { // nobody can say whether the change holds it
		return fmt.Errorf("its change is not shown without the provider's key: %w", x.keyless)
	}
	if x.plan.Forgotten() { // nor whether it holds those
		return errors.New("its change is not shown: tokens of the task may be in it, and nobody kept those")
	}
	objects, err := gitdiff.NewStore(x.r.o.State.TreesDir()).For(x.repo)
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	defer func() { _ = objects.Close() }() // nothing was written
	patch := x.record.Dir.PatchPath()
	if err := os.Remove(patch); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("replace patch: %w", err)
	}
	if err := x.read(ctx, x.r.o, x.r.o.Reader.Start(), reader.Work{Objects: objects, To: tree}, reader.Progress{}); err != nil { // what was not searched is not shown
		x.change.diff, x.change.snapshot = nil, nil
		return fmt.Errorf("change of the captured tree: %w", err)
	}
	return nil
}

// unbegun says of a dead run that it had not even a plan, as handshakes with an
// agent have none: nobody was told of it and nothing was done to a repository.
func unbegun(d *state.RunDir) (bool, error) {
	_, err := os.Stat(d.Path("plan.json"))
	if !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	record, err := d.Steps()
	return record.Base.ID == "", err
}
