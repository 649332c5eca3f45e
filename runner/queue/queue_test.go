package queue

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sandboxrun/runner/plan"
	"sandboxrun/runner/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func aQueue(t *testing.T) Queue {
	t.Helper()
	st, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return Of(st)
}

func entry(taskID, repo string) Entry {
	return Entry{SchemaVersion: Version, RunID: state.NewID(), TaskID: taskID, RepoRoot: repo, Attempt: 1, AcceptedAt: time.Now(),
		Task: json.RawMessage(fmt.Sprintf(`{"task_id":%q,"objective":"x"}`, taskID))}
}

func (q Queue) must(t *testing.T, e Entry) string {
	t.Helper()
	run, _, err := q.Enqueue(t.Context(), e, Bounds{All: 100})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestTheSameTaskIsAcceptedOnce(t *testing.T) {
	t.Parallel()
	q := aQueue(t)
	runs := make([]string, 16)
	var group sync.WaitGroup
	for i := range runs {
		group.Go(func() {
			e := entry("one", "/r")
			if i%2 == 0 { // written in another way
				e.Task = json.RawMessage(`{ "objective": "x", "task_id": "one" }`)
			}
			runs[i] = q.must(t, e)
		})
	}
	group.Wait()
	for _, run := range runs {
		if run != runs[0] {
			t.Errorf("runs %s and %s", run, runs[0])
		}
	}
	if list, err := q.List(); err != nil || len(list) != 1 {
		t.Errorf("%d entries, %v", len(list), err)
	}
	var reused *ReusedError
	other := entry("one", "/r")
	other.Overrides = plan.Overrides{Base: "elsewhere"}
	if _, _, err := q.Enqueue(t.Context(), other, Bounds{}); !errors.As(err, &reused) || reused.RunID != runs[0] || reused.Forgotten {
		t.Errorf("another task: %v", err)
	}
	taken, err := q.Take(runs[0])
	if err := errors.Join(err, taken.Remove(), taken.Close()); err != nil { // as if its run had been removed
		t.Fatal(err)
	}
	if _, _, err := q.Enqueue(t.Context(), entry("one", "/r"), Bounds{}); !errors.As(err, &reused) || !reused.Forgotten {
		t.Errorf("a removed run: %v", err)
	}
	fi, err := os.Stat(q.claimPath("one"))
	if err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
}

// A sender who died before its task was accepted keeps nobody from sending it again.
func TestAHalfAcceptedTaskIsAcceptedAgain(t *testing.T) {
	t.Parallel()
	for _, swept := range []bool{false, true} {
		q := aQueue(t)
		dead := entry("one", "/r")
		queueLock, err := q.lockQueue(t.Context()) // makes the directories
		if err := errors.Join(err, queueLock.Close()); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(dead)
		if err := errors.Join(err, writeFile(q.half(dead.RunID), data), q.claim(dead)); err != nil {
			t.Fatal(err)
		}
		if swept {
			if err := q.Sweep(t.Context(), func(string) (bool, error) { return false, nil }); err != nil {
				t.Fatal(err)
			}
		}
		e := entry("one", "/r")
		if run := q.must(t, e); run != e.RunID {
			t.Errorf("swept %v: attached to the dead run %s", swept, run)
		}
		if _, err := os.Stat(q.half(dead.RunID)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("swept %v: the half is left: %v", swept, err)
		}
	}
}

func TestTheQueueIsBounded(t *testing.T) {
	t.Parallel()
	q := aQueue(t)
	bounds := Bounds{All: 3, PerRepo: 2}
	var full *FullError
	for _, c := range []struct {
		repo string
		want bool
	}{{"/a", true}, {"/a", true}, {"/a", false}, {"/b", true}, {"/c", false}} {
		_, _, err := q.Enqueue(t.Context(), entry("", c.repo), bounds)
		if (err == nil) != c.want || err != nil && !errors.As(err, &full) {
			t.Errorf("%s: %v", c.repo, err)
		}
	}
	if names, err := os.ReadDir(q.dir()); err != nil || len(names) != 4 { // three entries and the lock
		t.Errorf("%v, %v", names, err)
	}
}

func TestOneProcessTakesAnEntry(t *testing.T) {
	t.Parallel()
	q := aQueue(t)
	run := q.must(t, entry("", "/r"))
	first, err := q.Take(run)
	if err != nil || first == nil {
		t.Fatal(err)
	}
	if again, err := q.Take(run); again != nil || err != nil {
		t.Errorf("taken twice: %v", err)
	}
	if held, err := q.Held(run); !held || err != nil {
		t.Errorf("held %v, %v", held, err)
	}
	first.Starts = 1
	if err := first.Rewrite(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again, err := q.Take(run); again != nil || err != nil {
		t.Errorf("taken again after it was written: %v", err)
	}
	if e, err := q.Get(run); err != nil || e.Starts != 1 {
		t.Errorf("%+v, %v", e, err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if again, err := q.Take(run); again == nil || err != nil {
		t.Errorf("a free entry: %v", err)
	} else if err := errors.Join(again.Remove(), again.Close()); err != nil {
		t.Error(err)
	}
	if _, err := q.Get(run); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a removed entry: %v", err)
	}
	if bad, err := q.Take("../queue"); bad != nil || err != nil {
		t.Errorf("a path: %v", err)
	}
}

func TestSweepKeepsWhatWaits(t *testing.T) {
	t.Parallel()
	q := aQueue(t)
	waits, begun, old := q.must(t, entry("", "/a")), q.must(t, entry("", "/b")), entry("", "/c")
	old.Refused, old.RefusedAt = json.RawMessage(`{"error":{}}`), time.Now().Add(-48*time.Hour)
	q.must(t, old)
	damaged := state.NewID()
	if err := errors.Join(os.WriteFile(q.path(damaged), []byte("{"), 0o600),
		os.WriteFile(filepath.Join(q.dir(), ".new-"+waits+rewriteSuffix), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := q.Sweep(t.Context(), func(run string) (bool, error) { return run == begun, nil }); err != nil {
		t.Fatal(err)
	}
	list, err := q.List()
	if err != nil || len(list) != 2 || list[0].RunID != waits || list[1].RunID != damaged || list[1].Waits() {
		t.Errorf("%+v, %v", list, err)
	}
	if names, err := os.ReadDir(q.dir()); err != nil || len(names) != 3 {
		t.Errorf("%v, %v", names, err)
	}
}
