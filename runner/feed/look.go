package feed

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sandboxrun/runner/view"
)

const (
	// wholeEvery is how often everything is read even where no directory has changed: what an entry of the queue waits
	// for changes with the clock.
	wholeEvery = 2 * time.Second
	// settledAfter is how long after its end a run may still get a successor.
	settledAfter = 10 * time.Second
)

// looked is what the last look saw of the directories.
type looked struct {
	at          time.Time
	whole       time.Time
	runs, queue time.Time // when they were changed
	queued      []view.RunView
	ids         map[string]bool // runs that have a directory
}

// look takes in what has changed. The caller holds the lock.
func (f *Feed) look(ctx context.Context, first bool) {
	before := f.version
	now := time.Now()
	f.looked.at = now
	whole := now.Sub(f.looked.whole) >= wholeEvery
	if whole {
		f.looked.whole = now
	}
	dir := f.src.State.Dir()
	err := errors.Join(f.lookAtQueue(changed(filepath.Join(dir, "queue"), &f.looked.queue) || whole),
		f.lookAtRuns(ctx, changed(filepath.Join(dir, "runs"), &f.looked.runs) || whole, first),
		f.lookAtApprovals(ctx))
	if err != nil && ctx.Err() == nil {
		f.src.Failed(err)
	}
	f.prune()
	if f.version != before {
		close(f.changed)
		f.changed = make(chan struct{})
	}
}

// changed reports whether names appeared in a directory or left it.
func changed(dir string, at *time.Time) bool {
	fi, err := os.Stat(dir)
	if err != nil {
		return false // nothing was ever there
	}
	old := *at
	*at = fi.ModTime()
	return !old.Equal(*at)
}

func (f *Feed) lookAtQueue(read bool) error {
	if read {
		list, err := f.src.Queued()
		if err != nil {
			return err
		}
		f.looked.queued = list
	}
	queued := map[string]bool{}
	for _, v := range f.looked.queued {
		queued[v.RunID] = true
		if !f.looked.ids[v.RunID] {
			f.saw(v)
		}
	}
	for id, s := range f.runs {
		if (s.view.State == view.Queued || s.view.State == view.Refused) && !queued[id] {
			f.again(id)
		}
	}
	return nil
}

// lookAtRuns looks at live runs, and at those that are new; read says that runs may have come or gone.
func (f *Feed) lookAtRuns(ctx context.Context, read, first bool) error {
	active, err := f.src.State.Active()
	if err != nil {
		return err
	}
	for _, id := range active {
		f.again(id)
	}
	for id, s := range f.runs {
		recent := s.view.EndedAt != nil && time.Since(*s.view.EndedAt) < settledAfter
		unfinished := s.view.State == view.Starting || s.view.State == view.Running || s.view.State == view.Crashed
		if (unfinished || recent && s.view.State == view.Ended) && !slices.Contains(active, id) {
			f.again(id)
		}
	}
	if !read {
		return nil
	}
	ids, err := f.src.State.RunIDs()
	if err != nil {
		return err
	}
	have := make(map[string]bool, len(ids))
	for _, id := range ids {
		have[id] = true
		if !first && f.looked.ids != nil && !f.looked.ids[id] && f.runs[id] == nil {
			f.again(id) // it began and may have ended since the last look
		}
	}
	f.looked.ids = have
	for id, s := range f.runs {
		if s.view.State == view.Ended && !have[id] {
			f.lost(id)
		}
	}
	if first {
		list, err := f.src.Ended(ctx, maxEnded)
		if err != nil {
			return err
		}
		for _, v := range list {
			f.saw(v)
		}
	}
	return nil
}

// again looks at one run. It may be gone.
func (f *Feed) again(id string) {
	v, err := view.Of(f.src.State, id)
	if errors.Is(err, fs.ErrNotExist) {
		if s := f.runs[id]; s != nil && !slices.ContainsFunc(f.looked.queued, func(v view.RunView) bool { return v.RunID == id }) {
			f.lost(id)
		}
		return
	}
	if err != nil {
		f.src.Failed(err)
		return
	}
	f.saw(v)
}

// saw notes a run as it is now.
func (f *Feed) saw(v view.RunView) {
	told := v
	if v.Queued != nil && v.Queued.Position > exactPlaces {
		place := *v.Queued
		place.Position = 0
		told.Queued = &place
	}
	key := line(told)
	if s := f.runs[v.RunID]; s != nil && bytes.Equal(s.key, key) {
		return
	}
	f.version++
	f.runs[v.RunID] = &seen{version: f.version, view: v, key: key, line: line(v)}
}

func (f *Feed) lost(id string) {
	delete(f.runs, id)
	f.version++
	f.gone = append(f.gone, tombstone{f.version, id})
	if over := len(f.gone) - maxGone; over > 0 {
		f.forgotten = f.gone[over-1].version
		f.gone = slices.Delete(f.gone, 0, over)
	}
}

// prune lets go of the oldest ended runs. Readers keep theirs.
func (f *Feed) prune() {
	var ended []string
	for id, s := range f.runs {
		if s.view.State == view.Ended && time.Since(*s.view.EndedAt) >= settledAfter {
			ended = append(ended, id)
		}
	}
	if len(ended) <= 2*maxEnded {
		return
	}
	slices.Sort(ended)
	for _, id := range ended[:len(ended)-maxEnded] {
		delete(f.runs, id)
	}
}

func (f *Feed) lookAtApprovals(ctx context.Context) error {
	list, err := f.src.Approvals(ctx)
	if err != nil {
		return err
	}
	waiting := []Waiting{}
	for _, a := range list {
		waiting = append(waiting, Waiting{RunID: a.RunID, ID: a.ID, Tool: a.Tool, AskedAt: a.AskedAt, Deadline: a.Deadline})
	}
	if slices.EqualFunc(waiting, f.waiting, func(a, b Waiting) bool { return a.RunID == b.RunID && a.ID == b.ID }) {
		return nil
	}
	f.version++
	f.waiting, f.waitingAt = waiting, f.version
	return nil
}
