package runner

import (
	"context"
	"errors"
	"time"

	"sandboxrun/agents"
	"sandboxrun/gitdiff"
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
}

func (r *Runner) newRun(p *Plan, rd *ready, started time.Time, watch func(Event)) (*run, error) {
	dir, err := r.o.State.NewRun()
	if err != nil {
		return nil, err
	}
	x := &run{
		ready: rd, r: r, plan: p, id: dir.ID(), taskID: p.TaskID, dir: dir, started: started,
		token: egress.NewToken(), timing: map[string]int64{}, layout: preferredLayout(r.o.Layout, rd.engine),
	}
	if x.taskID == "" {
		x.taskID = x.id
	}
	j, err := dir.Journal()
	if err != nil {
		return nil, errors.Join(err, dir.Discard())
	}
	x.log = newLog(j, watch)
	if err := dir.WritePlan(p); err != nil {
		return nil, errors.Join(err, j.Close(), dir.Discard())
	}
	return x, nil
}

// do walks the phases. It never fails: what goes wrong becomes a finding, and
// the phases that close, capture and settle are walked all the same.
func (x *run) do(ctx context.Context) *Result {
	limit := time.Duration(x.plan.LimitSeconds) * time.Second
	work, cancel := context.WithDeadlineCause(ctx, x.started.Add(limit),
		&sandbox.LimitError{Limit: sandbox.LimitTime, Detail: limit.String()})
	defer cancel()
	x.log.emit("", EventRunStarted, map[string]any{
		"task_id": x.taskID, "objective": x.plan.Objective, "version": x.r.o.Version,
		"base_commit": x.base.ID, "engine": x.engine.Name + " " + x.engine.Version,
	})
	for _, ph := range phases {
		if ph.skip != nil && ph.skip(x) {
			continue
		}
		x.walk(ctx, work, ph)
	}
	return x.settle()
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
		err = ph.do(x, pctx)
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
