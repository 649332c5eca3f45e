package box

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"sandboxrun/gitdiff/workspace"
	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/egress"
)

var stepTunnel = step.Define("tunnel/open")

// readyBound is how long the guest may take until its listeners answer.
const readyBound = 30 * time.Second

// Open starts a box on a tree. routes is what its processes may reach for as long
// as it lives; nil for nothing.
func (bs *Boxes) Open(ctx context.Context, role string, tree workspace.Mount, routes []egress.Route) (*Box, error) {
	sb, err := bs.Engine.Open(ctx, bs.spec(role, tree))
	if left, ok := errors.AsType[*sandbox.LeftError](err); ok {
		bs.lost.Store(true)
		if bs.Unremoved != nil {
			bs.Unremoved(role, &document.CleanupError{What: document.LeftBox, Err: left.Err})
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open %s box: %w", role, err)
	}
	gctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	gate, err := egress.NewGate(egress.Config{
		Routes: routes, Token: bs.Token, Record: func(r egress.Record) { bs.record(role, r) }, AllowPrivate: bs.AllowPrivate, Budget: bs.Budget,
	})
	b := &Box{Sandbox: sb, Gate: gate, of: bs, stop: stop, served: make(chan struct{})}
	if err != nil {
		close(b.served)
		return nil, errors.Join(fmt.Errorf("open %s box: gate: %w", role, err), b.Discard(ctx))
	}
	if err := bs.keepsTier(sb); err != nil {
		close(b.served)
		return nil, errors.Join(fmt.Errorf("open %s box: %w", role, err), b.Discard(ctx))
	}
	go func() {
		defer close(b.served)
		if err := b.Gate.Serve(gctx, sb.Stdio()); err != nil && gctx.Err() == nil {
			bs.Log.Remark("the tunnel of the %s box ended: %v", role, err)
		}
	}()
	rctx, cancel := context.WithTimeoutCause(ctx, readyBound, errors.New("the guest did not become ready"))
	defer cancel()
	step.Before(stepTunnel)
	err = b.Gate.Ready(rctx)
	step.After(stepTunnel)
	if err != nil {
		err = endOf(ctx, sb, &sandbox.EngineError{Op: "tunnel", Err: err})
		return nil, errors.Join(fmt.Errorf("open %s box: %w", role, err), b.Discard(ctx))
	}
	return b, nil
}

// endOf is why a box ended; one that has not ended, ends because of err.
func endOf(ctx context.Context, sb sandbox.Sandbox, err error) error {
	over, end := context.WithCancelCause(ctx)
	end(err)
	_, why := sb.Exec(over, sandbox.Command{Argv: []string{GuestPath}})
	return cmp.Or(why, err)
}

// Close removes the box and ends its gate, and waits for both.
func (b *Box) Close(ctx context.Context) error {
	err := b.Sandbox.Close(ctx)
	b.stop()
	<-b.served
	if err != nil {
		b.of.lost.Store(true)
		return &document.CleanupError{What: document.LeftBox, Err: err}
	}
	return nil
}

// Discard is Close under a bound of its own, also after ctx has ended.
func (b *Box) Discard(ctx context.Context) error {
	cctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), plan.CloseBound,
		fmt.Errorf("removal of a box took longer than %s", plan.CloseBound))
	defer cancel()
	return b.Close(cctx)
}
