package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"
	"github.com/oklog/ulid/v2"
)

// RunDir is the directory of one run: plan.json, events.ndjson, result.json,
// diff.patch, logs and, while it lives, trees.
type RunDir struct {
	state *State
	id    string
	lock  *flock.Flock // nil for those who only look
}

// NewRun creates the directory of a new run and holds its lock. Ids are ULIDs
// in lower case (github.com/ulid/spec): they sort by time.
func (s *State) NewRun() (*RunDir, error) {
	id := strings.ToLower(ulid.Make().String())
	// The directory appears under its name with the lock already held: nobody
	// ever sees a new run that looks dead.
	tmp := filepath.Join(s.runsDir(), ".new-"+id)
	if err := os.MkdirAll(filepath.Join(tmp, "logs"), 0o700); err != nil {
		return nil, err
	}
	lock, err := newLock(filepath.Join(tmp, "lock"))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(tmp))
	}
	d := &RunDir{state: s, id: id, lock: lock}
	if err = os.Rename(tmp, d.dir()); err == nil {
		err = os.WriteFile(s.marker(id), nil, 0o600)
	}
	if err != nil {
		return nil, errors.Join(err, d.Discard(), os.RemoveAll(tmp))
	}
	return d, nil
}

// validRunID tells ids from other names; it is what keeps names of strangers
// from becoming paths.
func validRunID(id string) bool {
	_, err := ulid.ParseStrict(strings.ToUpper(id))
	return err == nil && id == strings.ToLower(id)
}

// ID is the id of the run.
func (d *RunDir) ID() string { return d.id }

func (d *RunDir) dir() string { return d.state.runDir(d.id) }

func (d *RunDir) path(name string) string { return filepath.Join(d.dir(), name) }

// PatchPath is where the run's patch is, if it changed anything.
func (d *RunDir) PatchPath() string { return d.path("diff.patch") }

// ResultPath is where the run's result is once it has ended.
func (d *RunDir) ResultPath() string { return d.path("result.json") }

// EventsPath is where the run's journal is.
func (d *RunDir) EventsPath() string { return d.path("events.ndjson") }

// LogsDir holds the whole outputs of the run's commands.
func (d *RunDir) LogsDir() string { return d.path("logs") }

// Started is when the run's directory was made, to the millisecond.
func (d *RunDir) Started() (time.Time, error) {
	id, err := ulid.ParseStrict(strings.ToUpper(d.id))
	if err != nil {
		return time.Time{}, fmt.Errorf("run %q: %w", d.id, err)
	}
	return ulid.Time(id.Time()).UTC(), nil
}

// Journal opens the run's journal to write to it.
func (d *RunDir) Journal() (*Journal, error) {
	return openJournal(d.EventsPath(), d.id, journalLimits{line: maxLine, total: maxJournal})
}

// Events reads the run's events as the function Events does. A follower also
// stops when the run has died.
func (d *RunDir) Events(ctx context.Context, from int64, follow bool) iter.Seq2[Event, error] {
	dead := false
	return readEvents(ctx, d.EventsPath(), from, follow, func(ctx context.Context, size int64) (bool, error) {
		if dead {
			return false, nil
		}
		alive, err := locked(d.path("lock"))
		if dead = !alive; err != nil || dead {
			return dead, err // once more: it may have written since
		}
		return pollForever(ctx, size)
	})
}

// Spool opens the log file of that name.
func (d *RunDir) Spool(name string) (*Spool, error) {
	return NewSpool(filepath.Join(d.LogsDir(), filepath.Base(name)), maxLog)
}

// WritePlan writes the plan down.
func (d *RunDir) WritePlan(p *Plan) error { return d.writeJSON("plan.json", p) }

// Plan reads the plan back.
func (d *RunDir) Plan() (*Plan, error) {
	data, err := readSmall(d.path("plan.json"), 16*maxDocument)
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	var p Plan
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	return &p, nil
}

// Finish ends the run: it closes the journal with closeJournal, writes the
// result and lets go of the lock. Where the result cannot be written, the run
// counts as crashed.
func (d *RunDir) Finish(r *Result, closeJournal func() error) error {
	err := errors.Join(closeJournal(), d.writeJSON("result.json", r))
	if err == nil {
		err = os.Remove(d.state.marker(d.id))
	}
	return errors.Join(err, d.unlock())
}

// Discard removes the directory of a run that never began.
func (d *RunDir) Discard() error {
	err := os.Remove(d.state.marker(d.id))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(d.dir()), d.unlock())
}

// unlock lets go of the lock, if it is held.
func (d *RunDir) unlock() error {
	if d.lock == nil {
		return nil
	}
	err := d.lock.Close()
	d.lock = nil
	return err
}

// writeJSON replaces a file at once or not at all.
func (d *RunDir) writeJSON(name string, v any) error {
	data, err := EncodeDocument(v)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := renameio.WriteFile(d.path(name), data, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
