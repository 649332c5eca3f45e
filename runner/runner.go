package runner

import (
	"context"
	"errors"
	"fmt"

	"sandboxrun/gitdiff"
	"sandboxrun/sandbox"
)

// Options are what a Runner is made from.
type Options struct {
	State  *State
	Config Config
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
	Layout gitdiff.Layout
	// Asker shows requests of agents to a person, nil where nobody is there.
	Asker Asker
	// Attended says that somebody may answer requests another way: with the
	// policy "ask" they then wait although there is no Asker.
	Attended bool
	// Waiting is told why a run waits for others before it begins; may be nil.
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
// whatever fails is told in the result. Cancelling ctx (with an Interrupted
// cause) stops the run; the result still arrives. watch, if not nil, receives
// every journal event in order and must not block.
func (r *Runner) Execute(ctx context.Context, p *Plan, watch func(Event)) (*Result, error) {
	ready, place, started, err := r.admit(ctx, p)
	if err != nil {
		return nil, err
	}
	// Nothing depends on it: the kernel lets go of it with the process.
	defer func() { _ = place.release() }()
	run, err := r.newRun(ctx, p, ready, started, watch)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create run: %w", err), ready.session.leave(), ready.repo.Close())
	}
	if err := r.settleCrashed(ctx); err != nil {
		run.findings.add(note, Issue{Type: IssueEnv, Code: "cleanup_failed",
			Description: "an earlier run could not be cleared away: " + err.Error(), SuggestedAction: "run \"sandboxrun reap\""})
	}
	return run.do(ctx), nil
}
