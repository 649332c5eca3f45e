package docker

import (
	"context"

	"sandboxrun/sandbox"
	"sandboxrun/sandbox/docker/stream"
)

func newBox(ctx context.Context, e *Engine, s sandbox.Spec, img image) *box {
	_, profile := seccompProfile()
	b := &box{
		engine: e,
		spec:   s,
		details: sandbox.BoxDetails{
			ImageID: img.id, ImageDigest: img.digest, SeccompSHA256: profile,
		},
		built:     make(chan struct{}),
		attempted: make(chan struct{}),
		oom:       make(chan struct{}, 1),
		output:    stream.Meter{Limit: s.Limits.OutputBytes},
	}
	base := context.WithoutCancel(ctx)
	b.life, b.end = context.WithCancelCause(base)
	b.guest = newGuest(b)
	b.counters.located = make(chan struct{})
	b.work.Go(func() {
		<-b.life.Done()
		<-b.built
		b.guest.abandon()
		defer close(b.attempted)
		// Close returns the failure, after trying again.
		_ = b.remove(base)
	})
	return b
}

// Details describes the box as the engine made it; see sandbox.Details.
func (b *box) Details() sandbox.BoxDetails {
	d := b.details
	d.OutputBytes = b.output.Passed()
	return d
}

// Close removes the box; see sandbox.Sandbox. The end of ctx does not shorten it: removal has time limits of its own.
func (b *box) Close(ctx context.Context) error {
	b.end(sandbox.ErrClosed)
	<-b.attempted
	err := b.remove(ctx)
	b.work.Wait()
	return err
}
