package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"
	"time"

	"sandboxrun/runner/document"
)

func TestAPhaseThatASignalCutOffDiedOfTheSignal(t *testing.T) {
	t.Parallel()
	signal := document.Interrupted{Signal: syscall.SIGTERM}
	ctx, cancel := context.WithCancelCause(t.Context())
	cut := fmt.Errorf("make tree: %w", context.Canceled)
	if err := withCause(ctx, cut); !errors.Is(err, cut) || errors.Is(err, signal) {
		t.Errorf("before the signal: %v", err)
	}
	cancel(signal)
	for err, want := range map[error]bool{cut: true, context.DeadlineExceeded: true, signal: true, io.EOF: false} {
		if got := withCause(ctx, err); errors.Is(got, signal) != want || !errors.Is(got, err) {
			t.Errorf("%v became %v", err, got)
		}
	}
	if err := withCause(ctx, nil); err != nil {
		t.Errorf("success became %v", err)
	}
}

// A signal that comes while a tree is read leaves the reading a moment; one that came before has ended the work, whose
// change is still to be read.
func TestASignalLeavesTheReadingAMoment(t *testing.T) {
	t.Parallel()
	signal := document.Interrupted{Signal: syscall.SIGTERM}
	ctx, strike := context.WithCancelCause(t.Context())
	owed, end := teardown(ctx, "snapshot", time.Minute)
	pctx, cancel := heeding(ctx, owed, end)
	began := time.Now()
	strike(signal)
	if pctx.Err() != nil {
		t.Error("it ended at once")
	}
	<-pctx.Done()
	if took := time.Since(began); took < signalGrace || took > 2*signalGrace || !errors.Is(context.Cause(pctx), signal) {
		t.Errorf("it ended after %s with %v", took, context.Cause(pctx))
	}
	cancel()
	late, release := teardown(ctx, "snapshot", time.Minute)
	pctx, cancel = heeding(ctx, late, release)
	if pctx.Err() != nil {
		t.Error("a signal that came before ended it")
	}
	cancel()
	if pctx.Err() == nil {
		t.Error("it goes on after its end")
	}
}
