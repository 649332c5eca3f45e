// Package record is where a run is written: its directory, its journal of events and its journal of
// steps. Known secrets are hidden in all of them.
package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"sandboxrun/agents"
	"sandboxrun/internal/redact"
	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/state"
)

var stepJournal = step.Define("run/journal")

// Record is all that is written of one run, and the secrets that none of it may
// hold.
type Record struct {
	Dir     *state.RunDir
	Log     *Log
	Steps   *state.StepLog   // nil for a run that nobody would settle
	Secrets *redact.Redactor // nil before Hide
}

// Open opens both journals.
func (r *Record) Open(watch func(journal.Event)) error {
	step.Before(stepJournal)
	defer step.After(stepJournal)
	j, err := r.Dir.Journal()
	if err != nil {
		return err
	}
	r.Log = NewLog(j, watch)
	if r.Steps, err = r.Dir.OpenSteps(); err != nil {
		return errors.Join(err, j.Close())
	}
	return nil
}

// Hide has everything that is written from now on redacted.
func (r *Record) Hide(secrets *redact.Redactor) {
	r.Secrets, r.Log.secrets = secrets, secrets
	r.Dir.Redact(secrets)
}

// Close ends both journals and returns the first failure that of the events ever
// had.
func (r *Record) Close() error {
	err := r.Log.Close()
	if serr := r.Steps.Close(); err == nil {
		err = serr
	}
	return err
}

// Redacted returns the result with every known secret replaced in whatever field
// it stands, paths and hashes included; res itself when it holds none.
func (r *Record) Redacted(res *document.Result) *document.Result {
	doc, err := json.Marshal(res)
	if err != nil {
		panic(fmt.Sprintf("result document: %v", err)) // made of strings, numbers and times
	}
	hidden := r.Secrets.JSON(doc)
	if string(hidden) == string(doc) {
		return res
	}
	var out document.Result
	if err := json.Unmarshal(hidden, &out); err != nil {
		panic(fmt.Sprintf("result document: %v", err)) // only strings differ
	}
	return &out
}

// Log writes events to the journal and hands them to the live watcher, in one
// order for both. It is safe for concurrent use.
type Log struct {
	mu      sync.Mutex
	journal *journal.Journal
	watch   func(journal.Event)
	secrets *redact.Redactor // what no event may hold
	phase   string
	err     error // first failure of the journal
}

// NewLog makes a log that writes to j; watch, if not nil, receives every event in
// order and must not block.
func NewLog(j *journal.Journal, watch func(journal.Event)) *Log {
	if watch == nil {
		watch = func(journal.Event) {}
	}
	return &Log{journal: j, watch: watch}
}

// Emit writes one event. An empty phase means the current one. A journal that
// cannot be written does not stop the run; the result reports it.
func (l *Log) Emit(phase string, data journal.EventData) { l.append(phase, data.EventKind(), data) }

// Remark writes a message of the runner in the current phase.
func (l *Log) Remark(format string, args ...any) {
	l.Emit("", journal.SystemMessage{Text: fmt.Sprintf(format, args...)})
}

// Pass writes one event of an agent.
func (l *Log) Pass(phase string, e agents.Event) { l.append(phase, string(e.Kind), e.Data) }

func (l *Log) append(phase, kind string, data any) {
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

// Head is the end of the journal so far; nil where it is empty.
func (l *Log) Head() *document.JournalHead {
	head := l.journal.Head()
	if head.Seq == 0 {
		return nil
	}
	return &document.JournalHead{Events: head.Seq, SHA256: head.SHA256}
}

// Sync makes what was written so far survive a crash of the host.
func (l *Log) Sync() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.journal.Sync(); err != nil && l.err == nil {
		l.err = err
	}
}

// Failure returns the first failure of the journal.
func (l *Log) Failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Close ends the journal and returns the first failure it ever had.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.journal.Close(); err != nil && l.err == nil {
		l.err = err
	}
	return l.err
}
