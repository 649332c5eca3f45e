package egress

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// copyBuffer is the size of the buffer each direction of a splice holds.
const copyBuffer = 32 << 10

var (
	errIdle      = errors.New("idle for too long")
	errLifetime  = errors.New("open for too long")
	errByteLimit = errors.New("more bytes than one connection may carry")
)

// duplex is a connection whose sending half can be closed by itself. Close must
// end every Read and Write under way.
type duplex interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// bounds limits one splice; a zero field is no limit.
type bounds struct {
	idle   time.Duration // without a byte in either direction
	total  time.Duration // from start to end
	bytes  int64         // both directions together
	linger time.Duration // for the rest once the far side has ended
}

// splice copies between near and far, passing on each half-close, until both
// directions have ended, a bound is reached or ctx ends. It closes both and
// returns what went each way and the cause of an early end, nil otherwise.
func splice(ctx context.Context, near, far duplex, b bounds) (up, down int64, cause error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(closed)
		_ = near.Close() // the copies report what matters
		_ = far.Close()
	})

	timer := func(d time.Duration, why error) *time.Timer {
		return time.AfterFunc(d, func() { cancel(why) })
	}
	touch := func() {}
	if b.idle > 0 {
		idle := timer(b.idle, errIdle)
		defer idle.Stop()
		touch = func() { idle.Reset(b.idle) }
	}
	if b.total > 0 {
		defer timer(b.total, errLifetime).Stop()
	}

	var carried atomic.Int64
	spend := func(n int) {
		touch()
		if total := carried.Add(int64(n)); b.bytes > 0 && total > b.bytes {
			cancel(errByteLimit)
		}
	}

	var wg sync.WaitGroup
	wg.Go(func() { up = pump(far, near, spend, cancel) })
	down = pump(near, far, spend, cancel)
	if b.linger > 0 {
		defer timer(b.linger, nil).Stop()
	}
	wg.Wait()

	cause = context.Cause(ctx)
	if stop() {
		_ = near.Close()
		_ = far.Close()
	} else {
		<-closed
	}
	return up, down, cause
}

// pump copies one direction until it ends. A reader's end is passed on as a
// half-close; a writer that takes no more ends the whole splice.
func pump(dst, src duplex, spend func(int), cancel context.CancelCauseFunc) (n int64) {
	buf := make([]byte, copyBuffer)
	for {
		r, err := src.Read(buf)
		if r > 0 {
			spend(r)
			w, werr := dst.Write(buf[:r])
			n += int64(w)
			if werr != nil {
				cancel(werr)
				return n
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			if err := dst.CloseWrite(); err != nil {
				cancel(err)
			}
			return n
		case err != nil:
			cancel(err)
			return n
		}
	}
}
