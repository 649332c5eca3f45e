package tail

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// pollEvery is the pause between two looks at a journal that no watch reports.
	pollEvery = 100 * time.Millisecond
	// aliveEvery is the pause between two questions whether a run still has a writer.
	aliveEvery = time.Second
	// mournFor is how long a run without a writer and without a last event is waited for: whoever settles it writes one.
	mournFor = 10 * time.Second
)

// Source is a run whose journal is followed.
type Source struct {
	Path string
	// Live reports whether the journal has a writer.
	Live func() (bool, error)
}

// Set holds the journals that have readers: one follower each, whatever the number of readers. Close ends all.
type Set struct {
	watch *watch // nil where the kernel offers none

	mu        sync.Mutex
	followers map[string]*follower
	closed    bool
	running   sync.WaitGroup
}

type follower struct {
	tail    *Tail
	readers int
	stop    context.CancelFunc
	woken   chan struct{}
}

// ErrClosed is returned by a set that was closed.
var ErrClosed = errors.New("journals are no longer followed")

// NewSet makes an empty set.
func NewSet() *Set {
	s := &Set{followers: map[string]*follower{}}
	s.watch = newWatch(s.woken)
	return s
}

// Polls reports whether journals are polled because the kernel offers no watch.
func (s *Set) Polls() bool { return s.watch == nil }

// Open returns the journal's tail, and a function that gives it back.
func (s *Set) Open(ctx context.Context, src Source) (*Tail, func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, ErrClosed
	}
	f, ok := s.followers[src.Path]
	if !ok {
		fctx, stop := context.WithCancel(context.WithoutCancel(ctx))
		f = &follower{tail: newTail(src.Path), stop: stop, woken: make(chan struct{}, 1)}
		s.followers[src.Path] = f
		s.running.Go(func() { s.follow(fctx, f, src) })
	}
	f.readers++
	var once sync.Once
	return f.tail, func() { once.Do(func() { s.release(src.Path, f) }) }, nil
}

func (s *Set) release(path string, f *follower) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.readers--; f.readers == 0 {
		f.stop()
		delete(s.followers, path)
	}
}

// woken is called when the kernel reports a change of the journal.
func (s *Set) woken(path string) {
	s.mu.Lock()
	f := s.followers[path]
	s.mu.Unlock()
	if f == nil {
		return
	}
	select {
	case f.woken <- struct{}{}:
	default: // it will look anyhow
	}
}

// follow takes in what the journal gains until its last event, or until nobody reads it.
func (s *Set) follow(ctx context.Context, f *follower, src Source) {
	t := f.tail
	defer func() { _ = t.close() }() // nothing was written
	watched := false
	defer func() {
		if watched {
			s.watch.remove(src.Path)
		}
	}()
	var dead time.Time
	asked := time.Now()
	for {
		more := t.scan()
		switch {
		case t.failed(), t.ended():
			t.finish()
			<-ctx.Done() // readers still use the file
			return
		case more:
			dead = time.Time{}
		}
		if !watched && t.file != nil && s.watch != nil {
			if watched = s.watch.add(src.Path); watched {
				continue // once more: it may have grown before the watch
			}
		}
		if time.Since(asked) >= aliveEvery {
			asked = time.Now()
			live, err := src.Live()
			switch {
			case err != nil || live:
				dead = time.Time{} // unknown counts as alive
			case dead.IsZero():
				dead = asked
			case asked.Sub(dead) >= mournFor:
				t.scan()
				t.finish()
				<-ctx.Done()
				return
			}
		}
		pause := pollEvery
		if watched {
			pause = aliveEvery
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-f.woken:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// Close ends every follower and waits for it. Readers get io.EOF or the end of their context.
func (s *Set) Close() error {
	s.mu.Lock()
	s.closed = true
	for _, f := range s.followers {
		f.tail.finish()
		f.stop()
	}
	s.mu.Unlock()
	s.running.Wait()
	if s.watch == nil {
		return nil
	}
	return s.watch.close()
}
