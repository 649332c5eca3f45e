package state

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
	"github.com/oklog/ulid/v2"

	"sandboxrun/internal/redact"
	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/plan"
)

// RunDir is the directory of one run: plan.json, events.ndjson, steps.ndjson,
// result.json, diff.patch and logs.
type RunDir struct {
	state *State
	id    string
	lock  *flock.Flock // nil for readers
	// secrets must not appear in any file of the run; nil for readers.
	secrets *redact.Redactor
}

// NewID makes the id of a run. Ids are ULIDs in lower case (github.com/ulid/spec): they sort by time.
func NewID() string { return strings.ToLower(ulid.Make().String()) }

// NewRun creates the directory of a new run and holds its lock.
func (s *State) NewRun() (*RunDir, error) { return s.NewRunAs(NewID()) }

// NewRunAs is NewRun with an id that NewID made. It fails with fs.ErrExist where the id has a directory.
func (s *State) NewRunAs(id string) (*RunDir, error) {
	if !ValidRunID(id) {
		return nil, fmt.Errorf("create run: %q is no id of a run", excerpt.Clip(id, 64))
	}
	// The directory appears under its name with the lock already held: a new run never looks dead.
	tmp := filepath.Join(s.runsDir(), newPrefix+id)
	creation, err := s.creationLock(false)
	if err != nil {
		return nil, err
	}
	defer func() { _ = creation.Close() }() // nothing was written
	if _, err := os.Lstat(s.runDir(id)); err == nil {
		return nil, &fs.PathError{Op: "create run", Path: s.runDir(id), Err: fs.ErrExist}
	}
	d := &RunDir{state: s, id: id}
	// Marked first, so that a run that dies at any later point is found.
	step.Before(stepMark)
	err = os.WriteFile(s.marker(id), nil, 0o600)
	step.After(stepMark)
	if err != nil {
		return nil, err
	}
	step.Before(stepMake)
	if err = os.MkdirAll(filepath.Join(tmp, "logs"), 0o700); err == nil {
		d.lock, err = newLock(filepath.Join(tmp, "lock"))
	}
	step.After(stepMake)
	if err == nil {
		step.Before(stepAppear)
		err = os.Rename(tmp, d.Dir())
		step.After(stepAppear)
	}
	if err != nil {
		return nil, errors.Join(err, d.Discard(), os.RemoveAll(tmp))
	}
	return d, nil
}

// Prefixes of directories that are not runs yet, or no longer.
const (
	newPrefix  = ".new-"
	gonePrefix = ".gone-"
)

// creationLock takes the lock that processes share while they make a run. Its exclusive holder knows that half-made
// directories come from dead processes.
func (s *State) creationLock(alone bool) (*flock.Flock, error) {
	l := flock.New(s.runsDir(), flock.SetFlag(os.O_RDONLY))
	if !alone {
		return l, l.RLock()
	}
	got, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock directory of runs: %w", err)
	}
	if !got {
		return nil, errors.Join(&fs.PathError{Op: "lock", Path: s.runsDir(), Err: errLocked}, l.Close())
	}
	return l, nil
}

// ID is the id of the run.
func (d *RunDir) ID() string { return d.id }

// Dir is the directory itself.
func (d *RunDir) Dir() string { return d.state.runDir(d.id) }

// Path is the path of a file in the directory.
func (d *RunDir) Path(name string) string { return filepath.Join(d.Dir(), name) }

// PatchPath is the path of the run's patch, if it changed anything.
func (d *RunDir) PatchPath() string { return d.Path("diff.patch") }

// statementFile is the signed statement about the result.
const statementFile = "attestation.json"

// StatementPath is the path of the signed statement about the result, see package attest.
func (d *RunDir) StatementPath() string { return d.Path(statementFile) }

// PlanPath is the path of the run's plan.
func (d *RunDir) PlanPath() string { return d.Path("plan.json") }

// ResultPath is the path of the run's result once it has ended.
func (d *RunDir) ResultPath() string { return d.Path("result.json") }

// EventsPath is the path of the run's journal.
func (d *RunDir) EventsPath() string { return d.Path("events.ndjson") }

// stepsPath is the path of the run's journal of steps.
func (d *RunDir) stepsPath() string { return d.Path("steps.ndjson") }

// LogsDir holds the complete outputs of the run's commands.
func (d *RunDir) LogsDir() string { return d.Path("logs") }

// Started is when the run's directory was made, to the millisecond.
func (d *RunDir) Started() (time.Time, error) {
	id, err := ulid.ParseStrict(strings.ToUpper(d.id))
	if err != nil {
		return time.Time{}, fmt.Errorf("run %q: %w", d.id, err)
	}
	return ulid.Time(id.Time()).UTC(), nil
}

// Journal opens the run's journal for writing.
func (d *RunDir) Journal() (*journal.Journal, error) {
	return journal.Open(d.EventsPath(), d.id)
}

// Events reads the run's events like the function Events. Following also stops when the run has died.
func (d *RunDir) Events(ctx context.Context, from int64, follow bool) iter.Seq2[journal.Event, error] {
	if !follow {
		return journal.Events(ctx, d.EventsPath(), from, false)
	}
	return journal.FollowEvents(ctx, d.EventsPath(), from, func() (bool, error) { return locked(d.Path("lock")) })
}

// Spool opens the log file of that name.
func (d *RunDir) Spool(name string) (*excerpt.Spool, error) {
	return excerpt.NewSpool(filepath.Join(d.LogsDir(), filepath.Base(name)), excerpt.MaxLog, d.secrets)
}

// Redact removes these secrets from every file written from now on.
func (d *RunDir) Redact(secrets *redact.Redactor) { d.secrets = secrets }

// WritePlan stores the plan.
func (d *RunDir) WritePlan(p *plan.Plan) error { return d.writeJSON("plan.json", p) }

// Plan reads the plan back.
func (d *RunDir) Plan() (*plan.Plan, error) {
	data, err := document.ReadSmall(d.Path("plan.json"), 16*document.MaxDocument)
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	var p plan.Plan
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	return &p, nil
}

// ClearHalves removes half-written replacement files of a dead writer.
func (d *RunDir) ClearHalves() error {
	halves, err := filepath.Glob(filepath.Join(escapeGlob(d.Dir()), ".*.json*"))
	for _, half := range halves {
		err = errors.Join(err, os.Remove(half))
	}
	if err != nil {
		return fmt.Errorf("remove half-written files of run: %w", err)
	}
	return d.Mailbox().Sweep()
}

// Discard removes the directory of a run that never began. It is renamed first: no reader ever sees half of it, or
// takes it for a run.
func (d *RunDir) Discard() error {
	step.Before(stepDiscard)
	defer step.After(stepDiscard)
	gone := filepath.Join(d.state.runsDir(), gonePrefix+d.id)
	err := os.Rename(d.Dir(), gone)
	if err == nil {
		err = os.RemoveAll(gone)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, d.state.unmark(d.id), d.Unlock())
}

// Unlock releases the lock, if it is held.
func (d *RunDir) Unlock() error {
	if d.lock == nil {
		return nil
	}
	err := d.lock.Close()
	d.lock = nil
	return err
}

// writeJSON replaces a file atomically.
func (d *RunDir) writeJSON(name string, v any) error {
	data, err := d.encode(v)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return d.write(name, data)
}
