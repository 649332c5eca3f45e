package journal

import (
	"context"
	"fmt"
	"iter"
	"os"
	"time"
)

// pollInterval is how often a follower looks at a file that another process
// writes. Inside of the writing process, followers are woken instead. A watch
// of the file system would be one more dependency, and none works everywhere.
const pollInterval = 100 * time.Millisecond

// Events reads a journal's events from number from on (1 is the first). With
// follow it waits for more until run_ended or the end of ctx; without it stops
// after the last complete line. A torn last line is no error: it is being
// written, or its writer died. The last pair may hold an error instead of an
// event; the end of ctx is context.Cause(ctx).
//
// A run that crashed never ends its journal: use RunDir.Events to follow a run.
func Events(ctx context.Context, path string, from int64, follow bool) iter.Seq2[Event, error] {
	return readEvents(ctx, path, from, follow, pollForever)
}

// FollowEvents is Events with follow for a journal of which alive says whether its
// writer lives: the follower also stops when the writer has died.
func FollowEvents(ctx context.Context, path string, from int64, alive func() (bool, error)) iter.Seq2[Event, error] {
	dead := false
	return readEvents(ctx, path, from, true, func(ctx context.Context, size int64) (bool, error) {
		if dead {
			return false, nil
		}
		living, err := alive()
		if dead = !living; err != nil || dead {
			return dead, err // once more: it may have written since
		}
		return pollForever(ctx, size)
	})
}

// Events is the same for a journal this process writes; it needs no polling and
// ends when the journal is closed.
func (j *Journal) Events(ctx context.Context, from int64) iter.Seq2[Event, error] {
	return readEvents(ctx, j.file.Name(), from, true, j.wait)
}

func pollForever(ctx context.Context, _ int64) (bool, error) {
	t := time.NewTimer(pollInterval)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-t.C:
		return true, nil
	}
}

func (j *Journal) wait(ctx context.Context, size int64) (bool, error) {
	have, changed, closed := j.state()
	if have > size || closed {
		return have > size, nil
	}
	select {
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-changed:
		return true, nil
	}
}

func noMore(context.Context, int64) (bool, error) { return false, nil }

func readEvents(ctx context.Context, path string, from int64, follow bool, wait waiter) iter.Seq2[Event, error] {
	if !follow {
		wait = noMore
	}
	return func(yield func(Event, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(Event{}, fmt.Errorf("read journal: %w", err))
			return
		}
		defer func() { _ = f.Close() }() // nothing was written
		lines := newLineReader(f)
		for {
			e, ok, err := lines.await(ctx, f, wait)
			if err != nil {
				yield(Event{}, err)
			}
			if err != nil || !ok {
				return
			}
			if e.Seq >= from && !yield(e, nil) || follow && e.Kind == EventRunEnded {
				return
			}
		}
	}
}
