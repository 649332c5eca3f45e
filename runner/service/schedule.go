package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"sandboxrun/runner/document"
	"sandboxrun/runner/queue"
	"sandboxrun/runner/state"
)

// scheduleGap is the pause between two looks at the queue.
const scheduleGap = 250 * time.Millisecond

// Schedule starts tasks of the queue, settles runs whose process died, and ends the processes of cancelled runs that
// hear nothing, until ctx ends. failed is told what went wrong; the next look tries again.
func (s *Service) Schedule(ctx context.Context, failed func(error)) {
	told := map[string]syscall.Signal{}
	again := time.NewTicker(scheduleGap)
	defer again.Stop()
	for {
		if err := errors.Join(s.pass(ctx), s.settleDead(ctx), s.pressAll(told)); err != nil && ctx.Err() == nil {
			failed(err)
		}
		select {
		case <-again.C:
		case <-s.wake:
		case <-ctx.Done():
			return
		}
	}
}

func (s *Service) settleDead(ctx context.Context) error {
	crashed, err := s.o.State.HasCrashed()
	if err != nil || !crashed {
		return err
	}
	_, err = s.o.Runner.Reap(ctx)
	return err
}

// pressAll ends the processes of cancelled runs that are late.
func (s *Service) pressAll(told map[string]syscall.Signal) error {
	ids, err := s.o.State.Active()
	if err != nil {
		return err
	}
	now := time.Now()
	for _, id := range ids {
		d, derr := s.o.State.Run(id)
		if derr != nil {
			continue // ended since
		}
		if live, lerr := d.Live(); lerr != nil || !live {
			delete(told, id)
			continue
		}
		sig, perr := s.press(d, now, told[id])
		told[id] = sig
		err = errors.Join(err, perr)
	}
	return err
}

// kick has the tasks of the queue started where no server does it. A failure is left to the next look: the tasks are
// safe where they are.
func (s *Service) kick(ctx context.Context) {
	select {
	case s.wake <- struct{}{}: // where this process is the server
	default:
	}
	if served, err := s.served(); err != nil || served || s.o.Start == nil {
		return
	}
	_ = s.pass(ctx)
}

// pass starts as many tasks as there is room for.
func (s *Service) pass(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(s.o.State.Dir(), "queue")); errors.Is(err, fs.ErrNotExist) || s.o.Start == nil {
		return nil // nothing was ever accepted
	}
	l := flock.New(filepath.Join(s.o.State.Dir(), "queue", "scheduler"), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	ok, err := l.TryLock()
	if err != nil || !ok { // another one is at it
		return errors.Join(err, l.Close())
	}
	defer func() { _ = l.Close() }() // nothing was written
	if err := s.queue().Sweep(ctx, s.begun); err != nil {
		return err
	}
	work, err := s.look()
	if err != nil {
		return err
	}
	turns := s.readTurns()
	for work.live < max(1, s.o.Config.Serve.MaxParallel) {
		e, ok := work.next(turns)
		if !ok {
			return nil
		}
		if err := s.o.Start(ctx, e.RunID); err != nil {
			return fmt.Errorf("start run %s: %w", e.RunID, err)
		}
		turns[e.RepoRoot] = time.Now()
		if err := s.writeTurns(turns, work.waiting); err != nil {
			return err
		}
		work.live++
	}
	return nil
}

// workload is what runs and what waits.
type workload struct {
	live     int // runs that came from the queue
	sessions map[string]bool
	waiting  []queue.Entry
}

// look finds out what runs and what may be started.
func (s *Service) look() (*workload, error) {
	w := &workload{sessions: map[string]bool{}}
	ids, err := s.o.State.Active()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if d, err := s.o.State.Run(id); err == nil { // else it has ended since
			s.count(w, d)
		}
	}
	list, err := s.queue().List()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	for _, e := range list {
		if !e.Waits() {
			continue
		}
		held, err := s.queue().Held(e.RunID)
		if err != nil {
			return nil, err
		}
		switch {
		case held:
			w.live++
		case e.SessionID != "" && w.sessions[e.SessionID]:
		case !now.Before(e.NotBefore):
			w.waiting = append(w.waiting, e)
		}
		if e.SessionID != "" { // its later tasks wait for this one
			w.sessions[e.SessionID] = true
		}
	}
	return w, nil
}

// count adds a live run. What cannot be read of it is as if it had ended: its locks keep others out all the same.
func (s *Service) count(w *workload, d *state.RunDir) {
	if live, err := d.Live(); err != nil || !live {
		return
	}
	p, err := d.Plan()
	if err != nil {
		return // its entry in the queue is counted
	}
	if p.Session != "" {
		w.sessions[p.Session] = true
	}
	if info, err := d.Worker(); err == nil && info.Detached {
		w.live++
	}
}

// next takes the oldest task of the repository whose turn it is: that of which a task was started the longest ago.
func (w *workload) next(turns map[string]time.Time) (queue.Entry, bool) {
	at := -1
	for i, e := range w.waiting {
		if at < 0 || turns[e.RepoRoot].Before(turns[w.waiting[at].RepoRoot]) {
			at = i
		}
	}
	if at < 0 {
		return queue.Entry{}, false
	}
	e := w.waiting[at]
	w.waiting = append(w.waiting[:at:at], w.waiting[at+1:]...)
	return e, true
}

// maxTurns bounds the file of turns, in bytes.
const maxTurns = 1 << 20

func (s *Service) turnsPath() string { return filepath.Join(s.o.State.Dir(), "queue", "turns") }

// readTurns reads when a task of each repository was started last. Without the file every repository has its turn.
func (s *Service) readTurns() map[string]time.Time {
	turns := map[string]time.Time{}
	data, err := document.ReadSmall(s.turnsPath(), maxTurns)
	if err != nil || json.Unmarshal(data, &turns) != nil {
		return map[string]time.Time{}
	}
	return turns
}

// writeTurns keeps the turns of repositories with tasks, and recent ones.
func (s *Service) writeTurns(turns map[string]time.Time, waiting []queue.Entry) error {
	keep := map[string]time.Time{}
	for repo, at := range turns {
		if time.Since(at) < time.Hour && len(keep) < perRepo {
			keep[repo] = at
		}
	}
	for _, e := range waiting {
		if at, ok := turns[e.RepoRoot]; ok {
			keep[e.RepoRoot] = at
		}
	}
	data, err := json.Marshal(keep)
	if err != nil {
		return fmt.Errorf("write turns: %w", err)
	}
	return renameio.WriteFile(s.turnsPath(), data, 0o600, renameio.WithTempDir(filepath.Dir(s.turnsPath())))
}
