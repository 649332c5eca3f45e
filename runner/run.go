package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sandboxrun/agents"
	"sandboxrun/gitdiff"
	"sandboxrun/runner/redact"
	"sandboxrun/runner/step"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/egress"
)

// run is the state of one execution while its phases walk by.
type run struct {
	*ready
	r       *Runner
	plan    *Plan
	id      string
	taskID  string
	dir     *RunDir
	started time.Time
	token   string // per-run placeholder for the provider's key
	log     *log
	secrets *redact.Redactor // what nothing written of the run may hold
	steps   *stepLog         // nil for a run that nobody would settle
	keyless error            // of a dead run: why its provider's key is not known

	objects  *gitdiff.Objects
	dirt     *dirtLook
	layout   gitdiff.Layout
	tree     *gitdiff.Workspace // the tree of the working box
	box      *box               // the working box, nil before open and after close
	made     sandbox.BoxDetails // what the engine made of it
	snapshot *gitdiff.Snapshot
	diff     *gitdiff.Diff
	commit   string // landed commit
	branch   string // landed ref
	outcome  *agents.Outcome

	commands  []CommandRun
	logFiles  []string
	verified  []verifyOutcome
	baselines []verifyOutcome
	judged    judgement
	findings  findings
	usage     brokerUsage
	timing    map[string]int64
	desk      desk     // tool calls that wait for a person
	cleanup   []string // what could not be confirmed as gone
	unhidden  error    // why the provider's key cannot be looked for, nil if it can
	leaks     leaks
	refused   []gitdiff.Finding // what keeps the change from landing
	// refusedByGit says that the new objects are not such as a repository should have.
	refusedByGit bool
	printed      int64 // bytes of output of the boxes that are closed
}

func (r *Runner) newRun(ctx context.Context, p *Plan, rd *ready, started time.Time, watch func(Event)) (*run, error) {
	dir, err := r.o.State.NewRun()
	if err != nil {
		return nil, err
	}
	x := &run{
		ready: rd, r: r, plan: p, id: dir.ID(), taskID: p.TaskID, dir: dir, started: started,
		token: egress.NewToken(), timing: map[string]int64{}, layout: preferredLayout(r.o.Layout, rd.engine, r.o.State.Dir()),
	}
	if x.taskID == "" {
		x.taskID = x.id
	}
	if err := x.openJournals(watch); err != nil {
		return nil, errors.Join(err, dir.Discard())
	}
	x.learnSecrets(ctx)
	err = x.step(stepPlan, dir.path("plan.json"), func() error { return dir.WritePlan(p) })
	if err != nil {
		return nil, errors.Join(err, x.log.close(), x.steps.close(), dir.Discard())
	}
	x.tellBase()
	return x, nil
}

// openJournals opens the journal of events and that of steps.
func (x *run) openJournals(watch func(Event)) error {
	return step.Bare(stepJournal, func() error {
		j, err := x.dir.Journal()
		if err != nil {
			return err
		}
		x.log = newLog(j, watch)
		if x.steps, err = x.dir.openSteps(); err != nil {
			return errors.Join(err, j.Close())
		}
		return nil
	})
}

// do walks the phases. It never fails: what goes wrong becomes a finding, and
// the phases that close, capture and settle are walked all the same.
func (x *run) do(ctx context.Context) *Result {
	ctx = step.With(ctx, x.steps.watch)
	limit := time.Duration(x.plan.LimitSeconds) * time.Second
	work, cancel := context.WithDeadlineCause(ctx, x.started.Add(limit),
		&sandbox.LimitError{Limit: sandbox.LimitTime, Which: sandbox.MeasureRuntime,
			Allowed: int64(x.plan.LimitSeconds), Measured: int64(x.plan.LimitSeconds), Detail: limit.String()})
	defer cancel()
	x.log.emit("", EventRunStarted, map[string]any{
		"task_id": x.taskID, "objective": x.plan.Objective, "version": x.r.o.Version,
		"base_commit": x.base.ID, "engine": x.engine.Name + " " + x.engine.Version,
	})
	x.tellUnhidden()
	for _, ph := range phases {
		if ph.skip != nil && ph.skip(x) {
			continue
		}
		x.walk(ctx, work, ph)
	}
	return x.settle()
}

// blame adds what ended ctx to an error that says no more than that it was ended:
// not every library tells the cause.
func blame(err error, ctx context.Context) error { //nolint:revive // the error is what it is about
	cause := context.Cause(ctx)
	if cause == nil || errors.Is(err, cause) || !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// walk runs one phase under its clock and writes down how it went.
func (x *run) walk(ctx, work context.Context, ph phase) {
	began := time.Now()
	x.log.emit(ph.name, EventPhaseStarted, map[string]any{})
	pctx, cancel := work, context.CancelFunc(func() {})
	if ph.own > 0 {
		pctx, cancel = teardown(ctx, ph.name, ph.own)
	}
	err := context.Cause(pctx)
	if err == nil {
		err = blame(ph.do(x, pctx), pctx)
	}
	cancel()
	took := time.Since(began).Milliseconds()
	x.timing[ph.name] = took
	data := map[string]any{"duration_ms": took}
	if err != nil {
		data["error"] = err.Error()
		x.fail(ph.name, err)
	}
	x.log.emit(ph.name, EventPhaseEnded, data)
	x.log.sync()
}
