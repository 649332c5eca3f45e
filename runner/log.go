package runner

import (
	"encoding/json"
	"sync"
	"time"

	"sandboxrun/runner/redact"
)

// log writes events to the journal and hands them to the live watcher, in one
// order for both. It is safe for concurrent use.
type log struct {
	mu      sync.Mutex
	journal *Journal
	watch   func(Event)
	secrets *redact.Redactor // what no event may hold
	phase   string
	err     error // first failure of the journal
}

func newLog(j *Journal, watch func(Event)) *log {
	if watch == nil {
		watch = func(Event) {}
	}
	return &log{journal: j, watch: watch}
}

// emit writes one event. An empty phase means the current one. A journal that
// cannot be written does not stop the run; the result tells of it.
func (l *log) emit(phase, kind string, data any) {
	raw, err := json.Marshal(data)
	raw = l.secrets.JSON(raw)
	l.mu.Lock()
	defer l.mu.Unlock()
	if kind == EventPhaseStarted {
		l.phase = phase
	}
	if phase == "" {
		phase = l.phase
	}
	e := Event{Time: time.Now().UTC(), Phase: phase, Kind: kind, Data: raw}
	if err == nil {
		e, err = l.journal.Append(e)
	}
	if err != nil && l.err == nil {
		l.err = err
	}
	if err == nil && e.Seq > 0 { // 0: a full journal keeps only what tells how the run goes
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
