package index

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/state"
	"sandboxrun/runner/view"
)

// store makes a state directory with n ended runs and returns their ids, the newest first.
func store(tb testing.TB, n int) (*state.State, []string) {
	tb.Helper()
	st, err := state.Open(filepath.Join(tb.TempDir(), "state"))
	if err != nil {
		tb.Fatal(err)
	}
	ids := []string{}
	for i := range n {
		d, err := st.NewRun()
		if err != nil {
			tb.Fatal(err)
		}
		p := &plan.Plan{TaskID: fmt.Sprintf("task-%d", i), RepoRoot: fmt.Sprintf("/repo/%d", i%2), Objective: "Make it good."}
		status := document.StatusSuccess
		if i%3 == 0 {
			status = document.StatusFailed
		}
		r := &document.Result{SchemaVersion: document.SchemaVersion, TaskID: p.TaskID, RunID: d.ID(), Status: status, Summary: fmt.Sprintf("Summary Number %d", i)}
		if err := d.WritePlan(p); err != nil {
			tb.Fatal(err)
		}
		if err := d.Finish(r, func() error { return nil }, nil); err != nil {
			tb.Fatal(err)
		}
		ids = append(ids, d.ID())
	}
	slices.Reverse(ids)
	return st, ids
}

func list(t *testing.T, x *Index, q Query) (ids []string, next string) {
	t.Helper()
	p, err := x.Page(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range p.Runs {
		ids = append(ids, r.RunID)
	}
	return ids, p.Next
}

func TestPagesHoldEveryRunOnceAndTheNewestFirst(t *testing.T) {
	t.Parallel()
	st, want := store(t, 25)
	waiting := view.RunView{RunID: state.NewID(), State: view.Queued, Issues: []string{}}
	x := New(st, func() ([]view.RunView, error) { return []view.RunView{waiting}, nil })
	want = append([]string{waiting.RunID}, want...)
	var got []string
	for before := ""; ; {
		ids, next := list(t, x, Query{Limit: 7, Before: before})
		got = append(got, ids...)
		if before = next; next == "" {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestQueriesChooseRuns(t *testing.T) {
	t.Parallel()
	st, ids := store(t, 9) // ids[0] is task-8
	x := New(st, nil)
	workspace := view.WorkspaceID("/repo/1")
	for name, c := range map[string]struct {
		q    Query
		want int
	}{
		"all":       {Query{}, 9},
		"status":    {Query{Status: document.StatusFailed}, 3},
		"state":     {Query{State: view.Running}, 0},
		"ended":     {Query{State: view.Ended}, 9},
		"workspace": {Query{Workspace: workspace}, 4},
		"task":      {Query{TaskID: "task-4"}, 1},
		"words":     {Query{Words: "NUMBER summary task-3"}, 1},
		"no words":  {Query{Words: "number nothing"}, 0},
		"agent":     {Query{Agent: "claude"}, 0},
		"both":      {Query{Status: document.StatusFailed, Workspace: workspace}, 1},
	} {
		if got, _ := list(t, x, c.q); len(got) != c.want {
			t.Errorf("%s: %d runs, want %d", name, len(got), c.want)
		}
	}
	// Removed runs disappear, and a damaged one hides no other.
	d, err := st.Run(ids[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Remove(d); err != nil {
		t.Fatal(err)
	}
	fresh := New(st, nil)
	if d, err = st.Run(ids[1]); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.ResultPath(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _ := list(t, fresh, Query{}); !slices.Equal(got, ids[1:]) {
		t.Errorf("%v, want %v", got, ids[1:])
	}
}

func BenchmarkList(b *testing.B) {
	st, _ := store(b, 2000)
	x := New(st, nil)
	x.Warm(b.Context())
	for name, q := range map[string]Query{"first": {Limit: 50}, "search": {Words: "number 1999 nothing"}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := x.Page(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A run that the machine failed gets a successor right after its result.
func TestASuccessorOfAnEndedRunIsSeen(t *testing.T) {
	t.Parallel()
	st, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d, err := st.NewRun()
	if err != nil {
		t.Fatal(err)
	}
	res := &document.Result{SchemaVersion: document.SchemaVersion, RunID: d.ID(), Status: document.StatusFailed, EndedAt: time.Now()}
	if err := errors.Join(d.WriteWorker(state.Worker{Attempt: 1}), d.Finish(res, func() error { return nil }, nil)); err != nil {
		t.Fatal(err)
	}
	x := New(st, nil)
	next := state.NewID()
	for _, want := range []string{"", next} {
		p, err := x.Page(t.Context(), Query{})
		if err != nil || len(p.Runs) != 1 || p.Runs[0].SupersededBy != want {
			t.Errorf("%+v, %v; want %q", p.Runs, err, want)
		}
		if err := d.Supersede(next); err != nil {
			t.Fatal(err)
		}
	}
}
