package feed

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/service"
	"sandboxrun/runner/state"
	"sandboxrun/runner/view"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a feed on a state directory with a queue made by hand.
type bench struct {
	t    *testing.T
	st   *state.State
	feed *Feed

	mu      sync.Mutex
	queued  []view.RunView
	waiting []service.Approval
}

func newBench(t *testing.T) *bench {
	t.Helper()
	st, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(st.Dir()+"/queue", 0o700); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, st: st}
	b.feed = New(Source{State: st, Failed: func(err error) { t.Error(err) },
		Queued: func() ([]view.RunView, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			return slices.Clone(b.queued), nil
		},
		Ended: func(context.Context, int) ([]view.RunView, error) { return nil, nil },
		Approvals: func(context.Context) ([]service.Approval, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			return slices.Clone(b.waiting), nil
		}})
	return b
}

// set changes what waits, and makes the queue look changed.
func (b *bench) set(queued []view.RunView, waiting []service.Approval) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queued, b.waiting = queued, waiting
	now := time.Now()
	if err := os.Chtimes(b.st.Dir()+"/queue", now, now); err != nil {
		b.t.Error(err)
	}
}

// reader collects what a reader is told.
type reader struct {
	t       *testing.T
	changes chan Change
	stop    func()
}

func (b *bench) reader() *reader {
	ctx, cancel := context.WithCancel(b.t.Context())
	r := &reader{t: b.t, changes: make(chan Change, 1000)}
	ended := make(chan error, 1)
	go func() {
		ended <- b.feed.Watch(ctx, time.Minute, func(c Change) error {
			r.changes <- c
			return nil
		})
	}()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			b.t.Error(err)
		}
	})
	b.t.Cleanup(r.stop)
	return r
}

// until reads changes until one has the name and holds all words.
func (r *reader) until(name string, words ...string) Change {
	r.t.Helper()
	late := time.After(10 * time.Second)
	for {
		select {
		case c := <-r.changes:
			if c.Name == name && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(string(c.Data), w) }) {
				return c
			}
		case <-late:
			r.t.Fatalf("no %s with %q", name, words)
		}
	}
}

func TestReadersSeeARunFromTheQueueToItsRemoval(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := state.NewID()
	b.set([]view.RunView{{RunID: id, State: view.Queued, Objective: "It is \u202egood.", Queued: &view.Place{Position: 1}}}, nil)
	one := b.reader()
	first := one.until(Snapshot, id)
	var all State
	if err := json.Unmarshal(first.Data, &all); err != nil || len(all.Runs) != 1 || all.Approvals == nil || strings.Contains(string(first.Data), "\u202e") {
		t.Errorf("%v: %s", err, first.Data)
	}
	d, err := b.st.NewRunAs(id)
	if err != nil {
		t.Fatal(err)
	}
	b.set(nil, nil)
	one.until(Run, id, `"starting"`)
	j, err := d.Journal()
	if err := errors.Join(err, d.WritePlan(&plan.Plan{TaskID: "t", RepoRoot: "/r"})); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append(journal.Event{Time: time.Now(), Phase: "agent", Kind: journal.EventPhaseStarted}); err != nil {
		t.Fatal(err)
	}
	one.until(Run, id, `"running"`, `"agent"`)
	b.set(nil, []service.Approval{{RunID: id, ID: "7", Tool: "Bash", Input: json.RawMessage(`"secret words"`)}})
	if c := one.until(Approvals, id, `"7"`, "Bash"); strings.Contains(string(c.Data), "secret") {
		t.Errorf("%s", c.Data)
	}
	b.set(nil, nil)
	one.until(Approvals, `[]`)
	res := &document.Result{RunID: id, Status: document.StatusSuccess, EndedAt: time.Now()}
	if err := d.Finish(res, j.Close, nil); err != nil {
		t.Fatal(err)
	}
	one.until(Run, id, `"ended"`, `"success"`)
	if err := d.WriteWorker(state.Worker{SupersededBy: state.NewID()}); err != nil {
		t.Fatal(err)
	}
	one.until(Run, id, `"superseded_by"`)
	two := b.reader()
	two.until(Snapshot, id)
	if err := b.st.Remove(d); err != nil {
		t.Fatal(err)
	}
	one.until(Removed, id)
	two.until(Removed, id)
	one.stop()
	two.stop()
	again := b.reader()
	if c := again.until(Snapshot); strings.Contains(string(c.Data), id) {
		t.Errorf("%s", c.Data)
	}
}

// A task that is withdrawn leaves no trace, and the start of one does not tell every other one's place.
func TestTheQueueIsToldWithoutAFlood(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var list []view.RunView
	for i := range 200 {
		list = append(list, view.RunView{RunID: state.NewID(), State: view.Queued, Queued: &view.Place{Position: i + 1}})
	}
	b.set(list, nil)
	r := b.reader()
	r.until(Snapshot, list[199].RunID)
	gone := list[0].RunID
	list = slices.Clone(list[1:])
	for i := range list {
		list[i].Queued = &view.Place{Position: i + 1}
	}
	b.set(list, nil)
	// Removals come first; then the runs in their order.
	r.until(Removed, gone)
	last := r.until(Run, list[exactPlaces-1].RunID)
	if len(r.changes) > 0 {
		t.Errorf("%d more changes after %s", len(r.changes), last.Data)
	}
}

// A reader that is slow gets the newest state of a run once, and everything anew when removals it has missed are forgotten.
func TestASlowReaderGetsTheNewest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	f := b.feed
	f.runs, f.forgotten, f.version = map[string]*seen{}, 1, 1
	id := state.NewID()
	for i := range 50 {
		f.saw(view.RunView{RunID: id, State: view.Running, ApprovalsPending: i})
	}
	if list, _, _ := f.since(1); len(list) != 1 || !strings.Contains(string(list[0].Data), `"approvals_pending":49`) {
		t.Errorf("%d changes", len(list))
	}
	at := f.version
	for range maxGone + 5 {
		f.lost(state.NewID())
	}
	if list, _, _ := f.since(at); len(list) != 1 || list[0].Name != Snapshot {
		t.Errorf("%d changes, %s", len(list), list[0].Name)
	}
	if list, _, _ := f.since(f.version - 3); len(list) != 3 || list[0].Name != Removed {
		t.Errorf("%d changes", len(list))
	}
}
