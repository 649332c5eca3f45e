// Package service is what a caller may ask of runs that other processes work on: answer their requests, cancel them,
// wait for them. It acts on the state directory, with or without a server.
package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"sandboxrun/runner"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/state"
	"sandboxrun/runner/view"
)

// Options are what a Service is made from.
type Options struct {
	State  *state.State
	Runner *runner.Runner // settles dead runs
	// Patience bounds how long a cancelled run may take; zero for DefaultPatience.
	Patience Patience
}

// Service answers callers. It is safe for concurrent use, also by several processes on one state directory.
type Service struct{ o Options }

// New makes a Service.
func New(o Options) *Service {
	if o.Patience == (Patience{}) {
		o.Patience = DefaultPatience
	}
	return &Service{o: o}
}

// Codes of a [Problem].
const (
	CodeNotFound   = "not_found"
	CodeAnswered   = "already_answered"
	CodeExpired    = "expired"
	CodeDigest     = "digest_mismatch"
	CodeRunEnded   = "run_ended"
	CodeIncomplete = "invalid"
)

// Problem is a request that cannot be granted, with a stable code.
type Problem struct {
	Code string
	Err  error
}

func (p *Problem) Error() string { return p.Err.Error() }

// Unwrap returns what went wrong.
func (p *Problem) Unwrap() error { return p.Err }

func problem(code, hint, format string, args ...any) *Problem {
	return &Problem{Code: code, Err: &document.InputError{Message: fmt.Sprintf(format, args...), Hint: hint}}
}

// listHint says where runs are found.
const listHint = `"sandboxrun runs list" shows them`

func notFound(id string) *Problem {
	return problem(CodeNotFound, listHint, "no run is called %q", excerpt.Clip(id, 64))
}

// Run shows one run.
func (s *Service) Run(_ context.Context, id string) (view.RunView, error) {
	v, err := view.Of(s.o.State, id)
	if errors.Is(err, fs.ErrNotExist) {
		return v, notFound(id)
	}
	return v, err
}

// dir is the directory of a run.
func (s *Service) dir(id string) (*state.RunDir, error) {
	d, err := s.o.State.Run(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notFound(id)
	}
	return d, err
}

// pollGap is how often the state of another process is looked at.
const pollGap = 50 * time.Millisecond

// poll calls done until it is true, an error, or ctx ends.
func poll(ctx context.Context, gap time.Duration, done func() (bool, error)) error {
	again := time.NewTicker(gap)
	defer again.Stop()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
