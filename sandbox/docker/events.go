package docker

import (
	"context"
	"strconv"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"

	"sandboxrun/sandbox"
)

// codeKilled is the exit code of a process that SIGKILL ended.
const codeKilled = 128 + 9

// resubscribePause is the pause before subscribing to events again.
const resubscribePause = 500 * time.Millisecond

// expect returns a channel that is closed when the engine reports the end of the exec with this id, and a function to
// call when the wait is over.
func (x *execEnds) expect(id string) (<-chan struct{}, func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.waiting == nil {
		x.waiting = map[string]chan struct{}{}
	}
	ended := make(chan struct{})
	x.waiting[id] = ended
	return ended, func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		delete(x.waiting, id)
	}
}

func (x *execEnds) report(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if ended, ok := x.waiting[id]; ok {
		close(ended)
		delete(x.waiting, id)
	}
}

// subscription is an event stream of one container.
type subscription struct {
	messages <-chan events.Message
	errs     <-chan error
	cancel   context.CancelFunc
}

// subscribe requests the container's events since a time of the engine's clock, so that no event is lost between two
// subscriptions.
func (b *box) subscribe(ctx context.Context, since string) (subscription, error) {
	e := b.engine
	stream, cancel := context.WithCancel(b.life)
	return ask(ctx, e, "subscribe to events", e.timeouts.Call, func(ctx context.Context) (subscription, error) {
		stop := context.AfterFunc(ctx, cancel)
		messages, errs := e.client.Events(stream, events.ListOptions{
			Since: since,
			Filters: filters.NewArgs(
				filters.Arg("type", string(events.ContainerEventType)),
				filters.Arg("container", b.container),
				filters.Arg("event", string(events.ActionOOM)),
				filters.Arg("event", string(events.ActionDie)),
				filters.Arg("event", string(events.ActionExecDie)),
			),
		})
		if stop() {
			return subscription{messages, errs, cancel}, nil
		}
		<-errs //nolint:errcheck // always the cancellation
		return subscription{}, context.Cause(ctx)
	})
}

// watchEvents subscribes before the container starts and follows its events until the box ends.
func (b *box) watchEvents(ctx context.Context, since string) error {
	s, err := b.subscribe(ctx, since)
	if err != nil {
		return err
	}
	b.work.Go(func() {
		for {
			since = b.follow(s, since)
			s.cancel()
			// The stream broke. The engine may have been restarted and have forgotten the events in between, so
			// inspect the container as well.
			for {
				wait(b.life, resubscribePause)
				if b.life.Err() != nil {
					return
				}
				if s, err = b.subscribe(b.life, since); err == nil {
					break
				}
			}
			b.noticeEnd()
		}
	})
	return nil
}

// follow handles events until the stream ends, and returns the time of the last.
func (b *box) follow(s subscription, since string) string {
	for {
		select {
		case m := <-s.messages:
			since = time.Unix(0, m.TimeNano).UTC().Format(time.RFC3339Nano)
			b.handle(m)
		case <-s.errs: //nolint:errcheck // whatever broke it, the next subscription shows whether the engine is reachable
			return since
		}
	}
}

func (b *box) handle(m events.Message) {
	switch m.Action {
	case events.ActionOOM:
		select {
		case b.oom <- struct{}{}:
		default:
		}
		b.end(memoryLimit(b.spec.Limits))
	case events.ActionExecDie:
		b.execs.report(m.Actor.Attributes["execID"])
	case events.ActionDie:
		code, err := strconv.Atoi(m.Actor.Attributes["exitCode"])
		if err != nil {
			code = -1
		}
		// In a goroutine: the event that ended waits for is handled here.
		b.work.Go(func() { b.ended(code) })
	}
}

// ended ends the box because its main process did. Engines report an out-of-memory kill and the end it causes in
// either order.
func (b *box) ended(code int) {
	if code == codeKilled {
		b.awaitOOM()
	}
	b.counters.check(b)
	b.end(&sandbox.EndedError{Code: code, Stderr: b.guest.stderr.String()})
}

// noticeEnd checks whether the main process has ended. It gives the engine a moment because streams end before the
// state changes.
func (b *box) noticeEnd() { b.noticeEndWithin(2 * time.Second) }

func (b *box) noticeEndWithin(patience time.Duration) {
	ctx, cancel := context.WithTimeout(b.life, patience+b.engine.timeouts.Call)
	defer cancel()
	for pause := time.Millisecond; pause < patience; pause *= 2 {
		if ctx.Err() != nil {
			return
		}
		made, err := b.inspect(ctx)
		if gone := errdefs.IsNotFound(err); gone || err == nil && !made.State.Running && made.State.Status != "created" {
			if gone {
				b.end(&sandbox.EndedError{Code: -1, Removed: true})
				return
			}
			if made.State.OOMKilled {
				b.end(memoryLimit(b.spec.Limits))
			}
			b.ended(made.State.ExitCode)
			return
		}
		wait(ctx, pause)
	}
}

// missedPings is how many pings in a row may fail: a single failure may be chance.
const missedPings = 2

// watchEngine pings the engine while the box is open, and ends the box with *sandbox.UnavailableError, or
// *sandbox.EngineError, when pings fail: an exec of a hung engine would otherwise wait for ever.
func (b *box) watchEngine() {
	e := b.engine
	b.work.Go(func() {
		missed := 0
		for {
			wait(b.life, e.timeouts.PingGap)
			if b.life.Err() != nil {
				return
			}
			_, err := ask(b.life, e, "watch engine", e.timeouts.Ping, func(ctx context.Context) (types.Ping, error) {
				return e.client.Ping(ctx)
			})
			if err == nil {
				missed = 0
				continue
			}
			if missed++; missed >= missedPings {
				b.end(err)
				return
			}
		}
	})
}
