package tunnel

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// CopyBuffer is the size of the buffer of each direction of a splice.
const CopyBuffer = 32 << 10

// Causes that end a splice early.
var (
	ErrIdle      = errors.New("idle for too long")
	ErrLifetime  = errors.New("open for too long")
	ErrByteLimit = errors.New("more bytes than one connection may carry")
)

// Duplex is a connection whose sending half can be closed separately. Close must end every Read and Write in progress.
type Duplex interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// Bounds limits one splice; a zero field is no limit.
type Bounds struct {
	Idle   time.Duration // without a byte in either direction
	Total  time.Duration // from start to end
	Bytes  int64         // both directions together
	Linger time.Duration // for the rest once the far side has ended
}

// Splice copies between near and far, passing on each half-close, until both directions have ended, a bound is reached
// or ctx ends. It closes both and returns the bytes sent each way and the cause of an early end, else nil.
func Splice(ctx context.Context, near, far Duplex, b Bounds) (up, down int64, cause error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(closed)
		_ = near.Close() // the copies report the errors
		_ = far.Close()
	})

	timer := func(d time.Duration, why error) *time.Timer {
		return time.AfterFunc(d, func() { cancel(why) })
	}
	touch := func() {}
	if b.Idle > 0 {
		idle := timer(b.Idle, ErrIdle)
		defer idle.Stop()
		touch = func() { idle.Reset(b.Idle) }
	}
	if b.Total > 0 {
		defer timer(b.Total, ErrLifetime).Stop()
	}

	var carried atomic.Int64
	spend := func(n int) {
		touch()
		if total := carried.Add(int64(n)); b.Bytes > 0 && total > b.Bytes {
			cancel(ErrByteLimit)
		}
	}

	var wg sync.WaitGroup
	wg.Go(func() { up = pump(far, near, spend, cancel) })
	down = pump(near, far, spend, cancel)
	if b.Linger > 0 {
		defer timer(b.Linger, nil).Stop()
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

// pump copies one direction until it ends. The end of src becomes a half-close of dst; a dst that accepts no more data
// ends the whole splice.
func pump(dst, src Duplex, spend func(int), cancel context.CancelCauseFunc) (n int64) {
	buf := make([]byte, CopyBuffer)
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
