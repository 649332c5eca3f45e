package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"

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
