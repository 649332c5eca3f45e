package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"

	"sandboxrun/sandbox"
)

// lateError is the cause of a context whose named time ran out.
type lateError struct {
	op    string
	after time.Duration
}

func (e *lateError) Error() string { return fmt.Sprintf("no answer to %s in %s", e.op, e.after) }

// ask makes one call to the engine with a deadline of its own. Its errors are: the cause of ctx when that ended,
// *sandbox.UnavailableError when the engine is late or gone, else the engine's answer wrapped with op.
func ask[T any](ctx context.Context, e *Engine, op string, limit time.Duration, question func(context.Context) (T, error)) (T, error) {
	limited, cancel := context.WithTimeoutCause(ctx, limit, &lateError{op, limit})
	defer cancel()
	answer, err := question(limited)
	if err == nil {
		return answer, nil
	}
	var none T
	if ctx.Err() != nil {
		return none, fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	if limited.Err() != nil {
		err = context.Cause(limited)
	}
	return none, e.explain(op, err)
}

// order is ask for a call without a result.
func order(ctx context.Context, e *Engine, op string, limit time.Duration, call func(context.Context) error) error {
	_, err := ask(ctx, e, op, limit, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, call(ctx)
	})
	return err
}

// explain distinguishes an engine that cannot be reached from one that answered with an error or with nonsense: the
// first becomes *sandbox.UnavailableError with a hint, the second *sandbox.EngineError.
func (e *Engine) explain(op string, err error) error {
	if _, known := errors.AsType[*sandbox.UnavailableError](err); known {
		return fmt.Errorf("%s: %w", op, err)
	}
	if !unreachable(err) {
		return &sandbox.EngineError{Op: op, Err: err}
	}
	return &sandbox.UnavailableError{Op: op, Err: err, Hint: e.hint(err)}
}

func unreachable(err error) bool {
	var late *lateError
	var network *net.OpError
	return client.IsErrConnectionFailed(err) ||
		errors.As(err, &late) || errors.As(err, &network) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET)
}

func (e *Engine) hint(err error) string {
	host := e.client.DaemonHost()
	var late *lateError
	switch {
	case errors.As(err, &late):
		return "the engine at " + host + " is reachable but does not answer: check its log, then restart it"
	case errors.Is(err, fs.ErrPermission), strings.Contains(err.Error(), "permission denied"):
		return "no permission to use " + host + ": join the group that owns the socket (often docker), or set DOCKER_HOST to an engine of your own"
	default:
		return "start the engine at " + host + " (for example: systemctl start docker), or set DOCKER_HOST to one that runs"
	}
}

// errNothing says that the engine's answer has no content.
var errNothing = errors.New("the answer is empty")

// ready negotiates an API version once. It fails with *sandbox.UnavailableError when the engine does not answer or is
// too old.
func (e *Engine) ready(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.negotiated {
		return nil
	}
	ping, err := ask(ctx, e, "connect", e.timeouts.Call, func(ctx context.Context) (types.Ping, error) {
		return e.client.Ping(ctx)
	})
	if err != nil {
		return err
	}
	if ping.APIVersion == "" || versions.LessThan(ping.APIVersion, MinAPIVersion) {
		return &sandbox.UnavailableError{
			Op:   "connect",
			Hint: "upgrade to Docker Engine 20.10 or newer",
			Err:  fmt.Errorf("it offers API version %s; %s or newer is required", cmp.Or(ping.APIVersion, "without a version"), MinAPIVersion),
		}
	}
	e.client.NegotiateAPIVersionPing(ping)
	e.negotiated = true
	return nil
}

// wait pauses for d or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
