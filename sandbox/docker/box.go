package docker

import (
	"context"
	"sync"

	"github.com/docker/docker/api/types/container"

	"sandboxrun/sandbox"
	"sandboxrun/sandbox/docker/stream"
)

// box is one running container. It ends once, with the first cause: Close, a limit, the end of a context given to
// Exec, the loss of the engine, or the end of its main process. The end of life removes the container.
type box struct {
	engine  *Engine
	spec    sandbox.Spec
	details sandbox.BoxDetails
	dialect dialect // of the engine

	life context.Context // ends when the box does; context.Cause says why
	end  context.CancelCauseFunc
	work sync.WaitGroup // every goroutine of the box

	container string // id, or the name while the id is not known
	volume    string // "" without an overlay
	removal   sync.Mutex
	tried     bool // removal was attempted, with or without success
	removed   bool
	built     chan struct{} // closed when Open is done: it creates nothing any more
	attempted chan struct{} // closed after the first attempt to remove

	guest    *guest
	execs    execEnds
	oom      chan struct{} // receives when the engine reports an out-of-memory kill
	output   stream.Meter
	counters counters
	disk     disk
}

var (
	_ sandbox.Sandbox = (*box)(nil)
	_ sandbox.Details = (*box)(nil)
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

func (b *box) inspect(ctx context.Context) (container.InspectResponse, error) {
	e := b.engine
	return ask(ctx, e, "inspect container", e.timeouts.Call, func(ctx context.Context) (container.InspectResponse, error) {
		made, err := e.client.ContainerInspect(ctx, b.container)
		if err == nil && (made.ContainerJSONBase == nil || made.State == nil) {
			err = errNothing
		}
		return made, err
	})
}
