package runner

import (
	"context"
	"fmt"
	"io"
	"time"

	"sandboxrun/sandbox"
)

// idleClock ends a command that says nothing for too long. Every write to one
// of its writers begins the time anew.
type idleClock struct {
	timer *time.Timer
	most  time.Duration
}

// watchIdle returns a context that ends when a command has been silent for too
// long, and what its output has to pass through. Without a limit nothing is
// watched.
func (x *run) watchIdle(ctx context.Context) (context.Context, *idleClock, context.CancelFunc) {
	most := time.Duration(x.r.o.Config.Limits.IdleSeconds) * time.Second
	if most <= 0 {
		return ctx, nil, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(most, func() {
		cancel(&sandbox.LimitError{Limit: sandbox.LimitTime, Which: sandbox.MeasureIdle, Allowed: int64(most / time.Second), Measured: int64(most / time.Second),
			Detail: fmt.Sprintf("no output for %s", most)})
	})
	return ctx, &idleClock{timer, most}, func() { timer.Stop(); cancel(nil) }
}

// heard passes on to w what is written, and lets the clock know.
func (c *idleClock) heard(w io.Writer) io.Writer {
	if c == nil {
		return w
	}
	return &heardWriter{c, w}
}

type heardWriter struct {
	clock *idleClock
	to    io.Writer
}

func (w *heardWriter) Write(p []byte) (int, error) {
	w.clock.timer.Reset(w.clock.most)
	return w.to.Write(p)
}
