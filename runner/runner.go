// Package runner turns a task into a plan, and a plan into a result. A run is a
// fixed list of phases over throwaway boxes; what happened is written to a
// journal first and folded into the one result document at the end.
package runner

import (
	"context"
	"errors"
	"fmt"

	"sandboxrun/gitdiff/workspace"
	"sandboxrun/runner/approval"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/state"
	"sandboxrun/sandbox"
)

// Options are what a Runner is made from.
type Options struct {
	State  *state.State
	Config config.Config
	Engine sandbox.Engine
	// GuestBinary is the host path of the static program that becomes the main
	// process of every box (this program itself).
	GuestBinary string
	// CABundle is the host path of the authorities boxes shall trust, "" for
	// those of their image.
	CABundle string
	// Getenv reads the host's environment, for keys.
	Getenv func(string) string
	// Layout forces how trees reach boxes; "" for the best the engine can do.
	Layout workspace.Layout
	// Asker shows requests of agents to a person, nil where nobody is there.
	Asker approval.Asker
	// Waiting is called with the reason why a run waits for others before it
	// begins; may be nil.
	Waiting func(message string)
	// Version of this program, for the journal.
	Version string
}

// Runner executes plans. It is safe for concurrent use; every run has its own
// boxes, trees and journal.
type Runner struct{ o Options }

// New makes a Runner.
func New(o Options) *Runner { return &Runner{o: o} }

// Execute runs a plan and returns its result. An error is only returned while
// nothing has been created: an *InputError, a *sandbox.UnavailableError, a
// *sandbox.ImageError, a *BusyError, or a failure of the state directory. From then on
// whatever fails is reported in the result. Cancelling ctx (with an Interrupted
// cause) stops the run; the result still arrives. watch, if not nil, receives
// every journal event in order and must not block.
func (r *Runner) Execute(ctx context.Context, p *plan.Plan, watch func(journal.Event)) (*document.Result, error) {
	ready, slot, started, err := r.admit(ctx, p)
	if err != nil {
		return nil, err
	}
	// Nothing depends on it: the kernel releases it with the process.
	defer func() { _ = slot.Release() }()
	run, err := r.newRun(ctx, p, ready, started, watch)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create run: %w", err), ready.session.Leave(), ready.repo.Close())
	}
	if err := r.settleCrashed(ctx); err != nil {
		run.report.add(issue(document.CodeCleanupFailed, "an earlier run could not be settled: "+err.Error()).
			withSeverity(document.SeverityNote).withAction("run \"sandboxrun reap\""))
	}
	return run.do(ctx), nil
}
