package runner

import (
	"context"
	"errors"
	"time"

	"sandboxrun/agents"
	"sandboxrun/gitdiff"
	"sandboxrun/internal/step"
	"sandboxrun/runner/approval"
	"sandboxrun/runner/box"
	"sandboxrun/runner/check"
	"sandboxrun/runner/harness"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/program"
	"sandboxrun/runner/reader"
	"sandboxrun/runner/record"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/egress"
)

var stepPlan = step.Define("run/plan")

// run is one execution of a plan while its phases run: what is known of it, and
// the things at work.
type run struct {
	facts
	r     *Runner
	agent agents.Agent // nil in command mode
	repo  *gitdiff.Repo
	key   egress.KeyFunc // gives the broker the provider's key, which no box ever sees
	trees box.Trees
	boxes box.Boxes
	desk  *approval.Desk // tool calls that wait for a person
	child *reader.Child  // reads what the work left; nil before the box is closed

	reports   map[string]harness.Report // of test runners, by phase and command
	manifests []string                  // of both trees
	dirt      *dirtSearch               // nil where the uncommitted changes are part of the run
	files     *check.Files              // what checks read of both trees, within one budget; nil before the first check
}

// newRun makes the directory, the journals and the plan of a run that preflight
// found possible.
func (r *Runner) newRun(ctx context.Context, as Identity, p *plan.Plan, rd *ready, started time.Time, watch func(journal.Event)) (*run, error) {
	dir, err := r.o.State.NewRunAs(as.ID)
	if err != nil {
		return nil, err
	}
	as.Worker.Build = rd.guest.Build()
	if err := dir.WriteWorker(as.Worker); err != nil {
		return nil, errors.Join(err, dir.Discard())
	}
	x := &run{r: r, agent: rd.agent, repo: rd.repo}
	x.facts = facts{identity: newIdentity(dir, p, started), plan: p, base: rd.base, session: rd.session, record: record.Record{Dir: dir}}
	if err := x.record.Open(watch); err != nil {
		return nil, errors.Join(err, dir.Discard())
	}
	token := egress.NewToken()
	var unhidden error
	x.key, unhidden = x.hideSecrets(ctx, r.o, token, rd.key)
	step.Before(stepPlan)
	err = dir.WritePlan(p)
	step.After(stepPlan)
	if err != nil {
		return nil, errors.Join(err, x.record.Close(), dir.Discard())
	}
	if as.Begun != nil { // with a plan the run has a result, whatever happens
		as.Begun(dir)
	}
	x.record.Steps.WriteBase(x.base)
	x.desk = &approval.Desk{Box: dir.Mailbox(), Hide: x.record.Secrets.JSON, Sync: x.record.Log.Sync}
	x.report = newReport(x.record.Log, p.Box.Limits.OutputBytes)
	x.trees = box.Trees{State: r.o.State, Run: x.id, Owner: rd.treeUser, Limits: p.Box.Limits,
		Layout: box.PreferredLayout(r.o.Layout, rd.engine, r.o.State.Dir())}
	x.boxes = box.Boxes{Config: r.boxConfig(p, rd.engine, x.id, rd.guest)}
	x.boxes.ReadOnly, x.boxes.Token, x.boxes.Log, x.boxes.Journal = p.ReadOnlyTree(), token, x.record.Log, x.record.Steps.Watch
	x.boxes.Unremoved = x.report.fail
	x.record.Log.Emit("", journal.RunStarted{
		TaskID: x.taskID, Objective: p.Objective, Version: r.o.Version, BaseCommit: x.base.ID, Engine: rd.engine.Name + " " + rd.engine.Version,
	})
	if unhidden != nil {
		x.record.Log.Remark("the key of provider %s is not kept out of logs and results: it is %v", p.ProviderName(), unhidden)
	}
	return x, nil
}

// boxConfig is what the boxes of a run are made from, but for what differs between
// a run and a probe.
func (r *Runner) boxConfig(p *plan.Plan, engine sandbox.Info, run string, guest *program.Pinned) box.Config {
	return box.Config{Engine: r.o.Engine, Info: engine, GuestBinary: guest.Path(), CABundle: r.o.CABundle,
		AllowPrivate: r.o.Config.Box.Network.AllowPrivate, Plan: p.Box, Owner: r.o.State.Owner(run)}
}

// under is the commit whose pristine checkout the trees of this run lie over.
func (x *run) under() gitdiff.Commit {
	if x.session.Continued() {
		return x.session.Root()
	}
	return x.base
}
