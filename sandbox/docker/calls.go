package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/docker/docker/client"

	"sandboxrun/sandbox"
)

// Timeouts bounds the engine's calls. A zero field takes its default.
type Timeouts struct {
	Call     time.Duration // one short call
	Create   time.Duration // creating a container or a volume
	Start    time.Duration // starting a container, mounts included
	Remove   time.Duration // one attempt to remove a container or a volume
	Teardown time.Duration // all attempts together
	Retry    time.Duration // all attempts together after earlier ones, or the engine, failed
	Build    time.Duration // building an image
	Ping     time.Duration // one ping while a box is open
	PingGap  time.Duration // pause between two of them
	Linger   time.Duration // silence after which the stream of a finished exec is closed
}

// haste divides the time limits of programs that tests link to meet failing engines (-ldflags "-X
// sandboxrun/sandbox/docker.haste=5"). Nothing else sets it.
var haste = "1"

// DefaultTimeouts are generous for a busy machine, except Ping: two missed in a row mean that the engine is lost,
// which is noticed after about 14 seconds.
func DefaultTimeouts() Timeouts {
	n, _ := strconv.Atoi(haste)
	n = max(n, 1)
	share := func(whole time.Duration) time.Duration { return whole / time.Duration(n) }
	return Timeouts{
		Call:     share(20 * time.Second),
		Create:   share(60 * time.Second),
		Start:    share(90 * time.Second),
		Remove:   share(20 * time.Second),
		Teardown: share(45 * time.Second),
		Retry:    share(12 * time.Second),
		Build:    time.Hour,
		Ping:     4 * time.Second,
		PingGap:  3 * time.Second,
		Linger:   time.Second,
	}
}

func (t Timeouts) withDefaults() Timeouts {
	d := DefaultTimeouts()
	return Timeouts{
		Call:     cmp.Or(t.Call, d.Call),
		Create:   cmp.Or(t.Create, d.Create),
		Start:    cmp.Or(t.Start, d.Start),
		Remove:   cmp.Or(t.Remove, d.Remove),
		Teardown: cmp.Or(t.Teardown, d.Teardown),
		Retry:    cmp.Or(t.Retry, d.Retry),
		Build:    cmp.Or(t.Build, d.Build),
		Ping:     cmp.Or(t.Ping, d.Ping),
		PingGap:  cmp.Or(t.PingGap, d.PingGap),
		Linger:   cmp.Or(t.Linger, d.Linger),
	}
}

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
