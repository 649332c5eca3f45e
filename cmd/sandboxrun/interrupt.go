package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"sandboxrun/runner/document"
)

// hardStopBound is how long a second signal waits for the removal of boxes.
const hardStopBound = 10 * time.Second

// stopSignals are the signals that stop a run. A hang-up is excluded where the program was started to ignore it, as
// nohup does.
func stopSignals() []os.Signal {
	list := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// interruptible returns a context that the first of stopSignals ends with the cause runner.Interrupted, which lets a
// run close its box, settle and report. The second one gives up waiting: hard (nil for nothing to do) gets
// hardStopBound to remove what is left, then the process ends with 128 plus the signal. The returned function stops
// listening.
func (p *program) interruptible(ctx context.Context, hard func(context.Context, error)) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, stopSignals()...)
	quit := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 1; ; n++ {
			select {
			case <-quit:
				return
			case s := <-signals:
				sig, _ := s.(syscall.Signal)
				if n == 1 {
					p.notef("%s: stopping, the result follows; once more ends at once", signalName(sig))
					cancel(document.Interrupted{Signal: sig})
					continue
				}
				p.hardStop(ctx, sig, hard)
			}
		}
	})
	return ctx, func() {
		// In this order: while a second signal is handled, a third one must not get the default treatment.
		close(quit)
		wg.Wait()
		signal.Stop(signals)
		cancel(nil)
	}
}

// hardStop ends the process without waiting for the run.
func (p *program) hardStop(ctx context.Context, sig syscall.Signal, hard func(context.Context, error)) {
	p.notef("%s again: ending at once", signalName(sig))
	if hard != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), hardStopBound)
		defer cancel()
		done := make(chan struct{})
		go func() {
			defer close(done)
			hard(ctx, document.Interrupted{Signal: sig})
		}()
		// An engine, or a reader of standard output, may hang: the next start does what is left.
		select {
		case <-done:
		case <-ctx.Done():
		}
	}
	p.exit(128 + int(sig))
}

// removeBoxesWithin is removeBoxes with a bound: a hung engine can block a removal for much longer.
func (p *program) removeBoxesWithin(ctx context.Context, id string, bound time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, bound, errors.New("the engine takes too long"))
	defer cancel()
	removed := make(chan error, 1)
	go func() { removed <- p.removeBoxes(ctx, id) }()
	select {
	case err := <-removed:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func signalName(sig syscall.Signal) string {
	if sig == syscall.SIGINT {
		return "interrupted"
	}
	return sig.String()
}
