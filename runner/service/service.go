// Package service is what a caller may ask of runs that other processes work on: accept a task, answer requests, cancel
// a run, wait for it. It acts on the state directory, with or without a server.
package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"sandboxrun/runner"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/queue"
	"sandboxrun/runner/state"
)

// Options are what a Service is made from.
type Options struct {
	State  *state.State
	Config config.Config
	Runner *runner.Runner // checks tasks, runs them, and settles dead runs
	// Start starts a process that does the work of a task, and returns when the process has taken the task, or has
	// ended; nil where this process starts none.
	Start func(ctx context.Context, run string) error
	// Patience bounds how long a cancelled run may take; zero for DefaultPatience.
	Patience Patience
}

// Service answers callers. It is safe for concurrent use, also by several processes on one state directory.
type Service struct {
	o    Options
	wake chan struct{} // has room for one: Schedule shall look at the queue

	applying sync.Mutex
}

// New makes a Service.
func New(o Options) *Service {
	if o.Patience == (Patience{}) {
		o.Patience = DefaultPatience
	}
	return &Service{o: o, wake: make(chan struct{}, 1)}
}

// Codes of a [Problem].
const (
	CodeNotFound   = "not_found"
	CodeAnswered   = "already_answered"
	CodeExpired    = "expired"
	CodeDigest     = "digest_mismatch"
	CodeRunEnded   = "run_ended"
	CodeIncomplete = "invalid"
	CodeQueueFull  = "queue_full"
	CodeTaskReused = "task_id_reused"
	CodeForgotten  = "forgotten"
	CodeBegun      = "begun"
	CodeConflict   = "conflict"

	CodeNotEnded      = "not_ended"
	CodeApplyConflict = "apply_conflict"

	CodeSessionBusy = "session_busy"
)

// Problem is a request that cannot be granted, with a stable code.
type Problem struct { //nolint:errname // a refusal with a code, not a kind of failure
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

// Patience is how long a cancelled run may take before its process is ended.
type Patience struct {
	Terminate time.Duration // then the process gets SIGTERM
	Kill      time.Duration // after that, it is killed
}

// DefaultPatience is longer than a run takes to remove its boxes and to capture what they left.
var DefaultPatience = Patience{Terminate: 20 * time.Second, Kill: 30 * time.Second}

func (s *Service) queue() queue.Queue { return queue.Of(s.o.State) }

// served reports whether a server starts the tasks that wait.
func (s *Service) served() (bool, error) {
	l := flock.New(filepath.Join(s.o.State.Dir(), "serve.lock"))
	free, err := l.TryRLock()
	if err != nil {
		return false, fmt.Errorf("look for a server: %w", err)
	}
	return !free, l.Close()
}

// perRepo bounds the tasks of one repository that wait.
const perRepo = 200
