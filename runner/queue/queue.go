// Package queue keeps tasks that were accepted and have not begun, one file for each below the state directory. It
// survives every process: whoever accepts a task, starts it or withdraws it may die at any point.
package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"sandboxrun/internal/publish"
	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/state"
)

var (
	stepEnqueue = step.Define("queue/enqueue")
	stepTaskID  = step.Define("queue/task")
	stepAppear  = step.Define("queue/appear")
	stepRewrite = step.Define("queue/rewrite")
	stepRemove  = step.Define("queue/remove")
)

// Version is written into every entry.
const Version = 1

// Entry is a task that waits.
type Entry struct {
	SchemaVersion int             `json:"schema_version"`
	RunID         string          `json:"run_id"` // sorts by time of acceptance
	TaskID        string          `json:"task_id"`
	RepoRoot      string          `json:"repo_root"`
	SessionID     string          `json:"session_id,omitempty"`
	Objective     string          `json:"objective"`
	Agent         string          `json:"agent,omitempty"`
	Variant       string          `json:"variant,omitempty"`
	LimitSeconds  int             `json:"limit_seconds"`
	Task          json.RawMessage `json:"task"`           // as it was accepted
	Dir           string          `json:"dir,omitempty"`  // that the repo_root of the task may be relative to
	Repo          string          `json:"repo,omitempty"` // takes the place of the repo_root
	Overrides     plan.Overrides  `json:"overrides"`
	By            string          `json:"by,omitempty"`
	AcceptedAt    time.Time       `json:"accepted_at"`
	NotBefore     time.Time       `json:"not_before,omitzero"` // of a repetition
	Attempt       int             `json:"attempt"`             // 1 for a first run
	First         string          `json:"first_run,omitempty"` // the run that a repetition repeats
	Compare       string          `json:"compare,omitempty"`   // shared by runs of one task by several agents
	// Starts counts the processes that took the entry; one that dies before its run has begun leaves it here.
	Starts int `json:"starts,omitempty"`
	// Refused is the error document of a task that cannot be run.
	Refused   json.RawMessage `json:"refused,omitempty"`
	RefusedAt time.Time       `json:"refused_at,omitzero"`
}

// Waits says that the entry is to be run.
func (e Entry) Waits() bool { return len(e.Refused) == 0 }

// MaxEntry bounds one entry, in bytes. It is more than a task and its overrides can have.
const MaxEntry = 4 * document.MaxDocument

// Bounds is how many tasks may wait.
type Bounds struct {
	All     int
	PerRepo int
}

// FullError says that no more tasks may wait.
type FullError struct{ Reason string }

func (e *FullError) Error() string { return "the queue is full: " + e.Reason }

// ReusedError says that a task id stands for another task.
type ReusedError struct {
	TaskID, RunID string
	Forgotten     bool // the run of exactly this task was removed
}

func (e *ReusedError) Error() string {
	if e.Forgotten {
		return fmt.Sprintf("run %s of task %q was removed", e.RunID, e.TaskID)
	}
	return fmt.Sprintf("task_id %q stands for another task, run %s", e.TaskID, e.RunID)
}

// Queue is the queue of a state directory. It is safe for concurrent use, also by several processes.
type Queue struct{ st *state.State }

// Of is the queue of a state directory.
func Of(st *state.State) Queue { return Queue{st: st} }

func (q Queue) dir() string            { return filepath.Join(q.st.Dir(), "queue") }
func (q Queue) path(run string) string { return filepath.Join(q.dir(), run+".json") }
func (q Queue) half(run string) string { return filepath.Join(q.dir(), publish.HalfPrefix+run+".json") }
func (q Queue) tasks() string          { return filepath.Join(q.st.Dir(), "tasks") }

// lockQueue takes the lock under which entries appear: it makes the bounds and the task ids hold between processes. Whoever
// holds it knows that half-made entries are of the dead.
func (q Queue) lockQueue(ctx context.Context) (*flock.Flock, error) {
	for _, dir := range []string{q.dir(), q.tasks()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("open queue: %w", err)
		}
	}
	l := flock.New(filepath.Join(q.dir(), "lock"), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	if ok, err := l.TryLockContext(ctx, time.Millisecond); err != nil || !ok {
		return nil, errors.Join(fmt.Errorf("lock queue: %w", err), context.Cause(ctx), l.Close())
	}
	return l, nil
}

// Enqueue accepts a task: when it returns, the task survives a crash of the machine. The same task under the same
// task_id is accepted once; the id of its run is returned then, and existing is true. Errors are *FullError,
// *ReusedError, or failures of the state directory.
func (q Queue) Enqueue(ctx context.Context, e Entry, b Bounds) (run string, existing bool, err error) {
	data, err := document.Encode(e)
	if err != nil {
		return "", false, fmt.Errorf("enqueue: %w", err)
	}
	if len(data) > MaxEntry {
		return "", false, document.InputAt("", fmt.Sprintf("the task needs %d bytes in the queue, at most %d are possible", len(data), MaxEntry))
	}
	queueLock, err := q.lockQueue(ctx)
	if err != nil {
		return "", false, err
	}
	defer func() { err = errors.Join(err, queueLock.Close()) }()
	if e.TaskID != "" && e.First == "" {
		if run, err := q.known(e); run != "" || err != nil {
			return run, run != "", err
		}
	}
	if err := q.room(e, b); err != nil {
		return "", false, err
	}
	return e.RunID, false, q.appear(e, data)
}

// room refuses an entry beyond the bounds.
func (q Queue) room(e Entry, b Bounds) error {
	list, err := q.List()
	if err != nil {
		return err
	}
	all, repo := 0, 0
	for _, other := range list {
		if !other.Waits() {
			continue
		}
		all++
		if other.RepoRoot == e.RepoRoot {
			repo++
		}
	}
	switch {
	case e.First != "": // a repetition was admitted before
		return nil
	case b.All > 0 && all >= b.All:
		return &FullError{Reason: fmt.Sprintf("%d tasks wait", all)}
	case b.PerRepo > 0 && repo >= b.PerRepo:
		return &FullError{Reason: fmt.Sprintf("%d tasks of this repository wait", repo)}
	}
	return nil
}

// appear stores an entry in three steps, each of which can be told from the others after a death: the content, the
// task id, the name.
func (q Queue) appear(e Entry, data []byte) error {
	step.Before(stepEnqueue)
	err := writeFile(q.half(e.RunID), data)
	step.After(stepEnqueue)
	if err == nil && e.TaskID != "" && e.First == "" {
		step.Before(stepTaskID)
		err = q.claim(e)
		step.After(stepTaskID)
	}
	if err == nil {
		step.Before(stepAppear)
		if err = os.Rename(q.half(e.RunID), q.path(e.RunID)); err == nil {
			err = syncDir(q.dir())
		}
		step.After(stepAppear)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("enqueue: %w", err), q.drop(e.RunID))
	}
	return nil
}

// drop removes a half-made entry and its claim of a task id.
func (q Queue) drop(run string) error {
	err := q.release(run, q.half(run))
	if rerr := os.Remove(q.half(run)); !errors.Is(rerr, fs.ErrNotExist) {
		err = errors.Join(err, rerr)
	}
	return err
}

// List lists the entries, the oldest first. Damaged ones are left out: they are refused when they are taken.
func (q Queue) List() ([]Entry, error) {
	names, err := os.ReadDir(q.dir()) // by name, which is by time
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list queue: %w", err)
	}
	var list []Entry
	for _, n := range names {
		run, ok := strings.CutSuffix(n.Name(), ".json")
		if !ok || !state.ValidRunID(run) {
			continue
		}
		e, err := q.Get(run)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// Get reads one entry; fs.ErrNotExist where there is none.
func (q Queue) Get(run string) (Entry, error) {
	if !state.ValidRunID(run) {
		return Entry{}, &fs.PathError{Op: "read queue", Path: run, Err: fs.ErrNotExist}
	}
	data, err := document.ReadSmall(q.path(run), MaxEntry)
	if err != nil {
		return Entry{}, fmt.Errorf("read queue: %w", err)
	}
	return decode(run, data), nil
}

// decode reads an entry. One that is damaged is refused: it must not stop the others.
func decode(run string, data []byte) Entry {
	var e Entry
	if err := json.Unmarshal(data, &e); err != nil || e.RunID != run {
		text, _ := document.EncodeError(fmt.Errorf("the entry of run %s in the queue is damaged", run))
		return Entry{RunID: run, Refused: text, RefusedAt: time.Now()}
	}
	return e
}

func writeFile(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(publish.SyncDir(d), d.Close())
}
