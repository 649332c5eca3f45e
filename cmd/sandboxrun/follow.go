package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
)

// errRunOver ends a follower after the run's last event.
var errRunOver = errors.New("run is over")

// follower copies a run's journal to a stream while it grows. It reads the file, so a slow reader of the stream delays
// nothing and misses nothing.
type follower struct {
	p    *program
	w    io.Writer
	file io.Closer // nil for standard output
	ctx  context.Context
	stop context.CancelCauseFunc
	once sync.Once
	wg   sync.WaitGroup
	id   string
	next int64 // number of the first event not written yet
	err  error
}

// followInto prepares a follower that writes to a file, or with "-" to standard
// output.
func (p *program) followInto(ctx context.Context, name string) (*follower, error) {
	f := &follower{p: p, w: p.stdout, next: 1}
	if name != "-" {
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return nil, &document.InputError{Message: "open events file: " + fileReason(err)}
		}
		f.w, f.file = file, file
	}
	// A signal stops the run, not the report of how it stopped.
	f.ctx, f.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	return f, nil
}

// Event starts the copy at the first event: then the journal exists.
func (f *follower) Event(e journal.Event) {
	f.once.Do(func() {
		f.id = e.Run
		f.wg.Go(func() { f.err = f.copy(f.ctx, true) })
	})
}

// Close copies the rest of the finished journal.
func (f *follower) Close() {
	f.stop(errRunOver)
	f.wg.Wait()
	err := f.err
	if f.id != "" && errors.Is(err, errRunOver) {
		err = f.copy(context.WithoutCancel(f.ctx), false)
	}
	if f.file != nil {
		err = errors.Join(err, f.file.Close())
	}
	if err != nil {
		f.p.notef("events: %v; \"sandboxrun runs logs %s --raw\" has all of them", err, f.id)
	}
}

func (f *follower) copy(ctx context.Context, follow bool) error {
	st, err := f.p.state()
	if err != nil {
		return err
	}
	dir, err := st.Find(f.id)
	if err != nil {
		return err
	}
	for e, err := range dir.Events(ctx, f.next, follow) {
		if err != nil {
			return err
		}
		line, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("encode event: %w", err)
		}
		if _, err := f.w.Write(append(line, '\n')); err != nil {
			return err
		}
		f.next = e.Seq + 1
	}
	return nil
}
