// Package feed tells any number of readers what changes in the runs of a state directory: one look at the directory
// serves all of them, and a reader that is slow gets the newest state of each run instead of every change.
package feed

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/runner/service"
	"sandboxrun/runner/state"
	"sandboxrun/runner/view"
)

const (
	// lookEvery is the pause between two looks at the state directory.
	lookEvery = 250 * time.Millisecond
	// freshFor is how old what a new reader begins with may be.
	freshFor = 10 * time.Millisecond
	// maxEnded bounds the ended runs that are kept: the newest. Older ones are lists' concern.
	maxEnded = 50
	// maxGone bounds the removed runs that are remembered for slow readers; who has missed one gets everything anew.
	maxGone = 1000
	// exactPlaces is how many places at the head of the queue are told whenever they change. Further back, a place is
	// told when something else of the run changes: the start of one task moves all others.
	exactPlaces = 20
)

// Source is where runs are looked at.
type Source struct {
	State *state.State
	// Queued lists the tasks without a run, Ended the newest runs that have ended.
	Queued func() ([]view.RunView, error)
	Ended  func(ctx context.Context, limit int) ([]view.RunView, error)
	// Approvals lists the requests that wait for a person.
	Approvals func(ctx context.Context) ([]service.Approval, error)
	// Failed is told what could not be looked at; the next look tries again.
	Failed func(error)
}

// Names of changes.
const (
	Snapshot  = "snapshot"  // everything: a [State]
	Run       = "run"       // a run is new or has changed: a view.RunView
	Removed   = "removed"   // a run is no longer there: {"run_id"}
	Approvals = "approvals" // what waits for a person has changed: {"approvals": [Waiting]}
)

// Change is one message to a reader; both are zero where a while has passed without any.
type Change struct {
	Name string
	Data []byte // one line of JSON
}

// State is everything a reader begins with.
type State struct {
	Runs      []json.RawMessage `json:"runs"` // all that have not ended and the newest that have, the newest first
	Approvals []Waiting         `json:"approvals"`
}

// Waiting is a request that waits for a person. What exactly is asked is not in it.
type Waiting struct {
	RunID    string    `json:"run_id"`
	ID       string    `json:"id"`
	Tool     string    `json:"tool"`
	AskedAt  time.Time `json:"asked_at"`
	Deadline time.Time `json:"deadline"`
}

// Feed is the runs as they were seen last. It is safe for concurrent use.
type Feed struct {
	src Source

	mu      sync.Mutex
	readers int
	stop    context.CancelFunc
	stopped chan struct{} // closed when nobody looks any more
	changed chan struct{} // closed and replaced at every change

	version   int64
	runs      map[string]*seen
	gone      []tombstone
	forgotten int64 // version of the newest removal that is no longer remembered
	waiting   []Waiting
	waitingAt int64 // version
	looked    looked
}

type seen struct {
	version int64
	view    view.RunView
	key     []byte // what a change is told by
	line    []byte
}

type tombstone struct {
	version int64
	run     string
}

// New makes a feed. It looks at nothing while it has no readers.
func New(src Source) *Feed { return &Feed{src: src, changed: make(chan struct{})} }

// Watch calls do with everything, and then with what changes, until ctx ends or do returns an error. Whenever nothing
// changes for tick, do is called with a zero Change.
func (f *Feed) Watch(ctx context.Context, tick time.Duration, do func(Change) error) error {
	f.enter(ctx)
	defer f.leave()
	at := int64(-1)
	for {
		changes, now, more := f.since(at)
		at = now
		for _, c := range changes {
			if err := do(c); err != nil {
				return err
			}
		}
		timer := time.NewTimer(tick)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-more:
		case <-timer.C:
			if err := do(Change{}); err != nil {
				return err
			}
		}
		timer.Stop()
	}
}

// enter begins to look with the first reader.
func (f *Feed) enter(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.readers++; f.readers > 1 {
		if time.Since(f.looked.at) > freshFor {
			f.look(ctx, false) // what was there before the reader came is in its snapshot
		}
		return
	}
	ctx, f.stop = context.WithCancel(context.WithoutCancel(ctx))
	f.runs, f.gone, f.waiting, f.looked = map[string]*seen{}, nil, []Waiting{}, looked{}
	f.version++
	f.forgotten = f.version
	f.look(ctx, true)
	stopped := make(chan struct{})
	f.stopped = stopped
	go func() {
		defer close(stopped)
		f.follow(ctx)
	}()
}

// leave ends looking with the last reader.
func (f *Feed) leave() {
	f.mu.Lock()
	f.readers--
	last, stopped := f.readers == 0, f.stopped
	if last {
		f.stop()
	}
	f.mu.Unlock()
	if last {
		<-stopped
	}
}

func (f *Feed) follow(ctx context.Context) {
	again := time.NewTicker(lookEvery)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
		f.mu.Lock()
		if ctx.Err() == nil {
			f.look(ctx, false)
		}
		f.mu.Unlock()
	}
}

// since returns what has changed after a version, the version now, and the channel that closes at the next change.
func (f *Feed) since(at int64) ([]Change, int64, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at < f.forgotten {
		return []Change{f.everything()}, f.version, f.changed
	}
	var list []Change
	for _, t := range f.gone {
		if t.version > at {
			list = append(list, Change{Name: Removed, Data: []byte(`{"run_id":"` + t.run + `"}`)}) // an id of ours
		}
	}
	var fresh []*seen
	for _, s := range f.runs {
		if s.version > at {
			fresh = append(fresh, s)
		}
	}
	slices.SortFunc(fresh, func(a, b *seen) int { return strings.Compare(a.view.RunID, b.view.RunID) })
	for _, s := range fresh {
		list = append(list, Change{Name: Run, Data: s.line})
	}
	if f.waitingAt > at {
		list = append(list, Change{Name: Approvals, Data: line(struct {
			Approvals []Waiting `json:"approvals"`
		}{f.waiting})})
	}
	return list, f.version, f.changed
}

func (f *Feed) everything() Change {
	all := State{Runs: []json.RawMessage{}, Approvals: f.waiting}
	ids := make([]string, 0, len(f.runs))
	for id := range f.runs {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range slices.Backward(ids) {
		all.Runs = append(all.Runs, f.runs[id].line)
	}
	return Change{Name: Snapshot, Data: line(all)}
}

// line is a document on one line. What strangers wrote is escaped as everywhere in the program.
func line(v any) []byte {
	doc, err := document.Encode(v)
	if err != nil {
		panic(err) // plain data always marshals
	}
	var b bytes.Buffer
	if err := json.Compact(&b, doc); err != nil {
		panic(err)
	}
	return b.Bytes()
}
