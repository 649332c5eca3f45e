package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"sandboxrun/agents"
	"sandboxrun/gitdiff"
	"sandboxrun/internal/redact"
	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/state"
)

var stepJournal = step.Define("run/journal")

// record is where a run is written: its directory, its journal of events and its
// journal of steps, and what none of them may hold.
type record struct {
	dir     *state.RunDir
	log     *log
	steps   *state.StepLog   // nil for a run that nobody would settle
	secrets *redact.Redactor // nil before hide
}

// open opens both journals.
func (r *record) open(watch func(journal.Event)) error {
	step.Before(stepJournal)
	defer step.After(stepJournal)
	j, err := r.dir.Journal()
	if err != nil {
		return err
	}
	r.log = newLog(j, watch)
	if r.steps, err = r.dir.OpenSteps(); err != nil {
		return errors.Join(err, j.Close())
	}
	return nil
}

// hide has everything that is written from now on redacted.
func (r *record) hide(secrets *redact.Redactor) {
	r.secrets, r.log.secrets = secrets, secrets
	r.dir.Redact(secrets)
}

// close ends both journals and returns the first failure that of the events ever
// had.
func (r *record) close() error {
	err := r.log.close()
	if serr := r.steps.Close(); err == nil {
		err = serr
	}
	return err
}

// writeBase records what the run starts from.
func (r *record) writeBase(c gitdiff.Commit) {
	r.steps.WriteBase(c)
}

// writeTree records what was captured.
func (r *record) writeTree(tree string) { r.steps.WriteTree(tree) }

// redacted returns the result with every known secret replaced in whatever field
// it stands, paths and hashes included; res itself when it holds none.
func (r *record) redacted(res *document.Result) *document.Result {
	doc, err := json.Marshal(res)
	if err != nil {
		panic(fmt.Sprintf("result document: %v", err)) // made of strings, numbers and times
	}
	hidden := r.secrets.JSON(doc)
	if string(hidden) == string(doc) {
		return res
	}
	var out document.Result
	if err := json.Unmarshal(hidden, &out); err != nil {
		panic(fmt.Sprintf("result document: %v", err)) // only strings differ
	}
	return &out
}

// log writes events to the journal and hands them to the live watcher, in one
// order for both. It is safe for concurrent use.
type log struct {
	mu      sync.Mutex
	journal *journal.Journal
	watch   func(journal.Event)
	secrets *redact.Redactor // what no event may hold
	phase   string
	err     error // first failure of the journal
}

func newLog(j *journal.Journal, watch func(journal.Event)) *log {
	if watch == nil {
		watch = func(journal.Event) {}
	}
	return &log{journal: j, watch: watch}
}

// emit writes one event. An empty phase means the current one. A journal that
// cannot be written does not stop the run; the result reports it.
func (l *log) emit(phase string, data journal.EventData) { l.append(phase, data.EventKind(), data) }

// remark writes a message of the runner in the current phase.
func (l *log) remark(format string, args ...any) {
	l.emit("", journal.SystemMessage{Text: fmt.Sprintf(format, args...)})
}

// pass writes one event of an agent.
func (l *log) pass(phase string, e agents.Event) { l.append(phase, string(e.Kind), e.Data) }

func (l *log) append(phase, kind string, data any) {
	raw, err := json.Marshal(data)
	raw = l.secrets.JSON(raw)
	l.mu.Lock()
	defer l.mu.Unlock()
	if kind == journal.EventPhaseStarted {
		l.phase = phase
	}
	if phase == "" {
		phase = l.phase
	}
	e := journal.Event{Time: time.Now().UTC(), Phase: phase, Kind: kind, Data: raw}
	if err == nil {
		e, err = l.journal.Append(e)
	}
	if err != nil && l.err == nil {
		l.err = err
	}
	if err == nil && e.Seq > 0 { // 0: a full journal keeps only the course of the run
		l.watch(e)
	}
}

// sync makes what was written so far survive a crash of the host.
func (l *log) sync() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.journal.Sync(); err != nil && l.err == nil {
		l.err = err
	}
}

func (l *log) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// close ends the journal and returns the first failure it ever had.
func (l *log) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.journal.Close(); err != nil && l.err == nil {
		l.err = err
	}
	return l.err
}
