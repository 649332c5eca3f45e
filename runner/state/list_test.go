package state

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/plan"

	"github.com/google/go-cmp/cmp"
)

func TestListShowsTheNewestRunsFirst(t *testing.T) {
	t.Parallel()
	s := newState(t)
	dead, ended, live := newRun(t, s), newRun(t, s), newRun(t, s)
	plan, err := plan.Compile(decodeFile(t, "command"), config.Default(), plan.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	if err := dead.WritePlan(plan); err != nil {
		t.Fatal(err)
	}
	crash(t, dead)
	end := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	finish(t, ended, &document.Result{TaskID: "t", Status: document.StatusPartial, Summary: "s", Git: document.GitResult{Branch: "sandboxrun/t"}, EndedAt: end})
	if err := os.Mkdir(filepath.Join(s.runsDir(), "not-a-run"), 0o700); err != nil {
		t.Fatal(err)
	}
	want := []RunInfo{
		{RunID: live.ID(), TaskID: live.ID(), Status: RunRunning},
		{RunID: ended.ID(), TaskID: "t", Status: "partial", Summary: "s", Branch: "sandboxrun/t", EndedAt: &end},
		{RunID: dead.ID(), TaskID: "regenerate", Status: RunCrashed, Summary: "Regenerate the parser.", Objective: "Regenerate the parser.",
			RepoRoot: plan.RepoRoot},
	}
	got, err := s.List(0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if age := time.Since(got[i].StartedAt); age < -time.Second || age > time.Hour {
			t.Errorf("run %s started at %v", got[i].RunID, got[i].StartedAt)
		}
		got[i].StartedAt = time.Time{}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if got, err = s.List(1); err != nil || len(got) != 1 || got[0].RunID != live.ID() {
		t.Errorf("List(1) = %+v, %v", got, err)
	}
}

func TestRunsAreFoundByWhatAPersonCallsThem(t *testing.T) {
	t.Parallel()
	s := newState(t)
	if _, err := s.FindNamed(Newest); err == nil {
		t.Error("there is a last run where there is none")
	}
	first, second, other := newRun(t, s), newRun(t, s), newRun(t, s)
	for _, d := range []*RunDir{first, second} {
		finish(t, d, &document.Result{TaskID: "mend", Status: document.StatusSuccess, Git: document.GitResult{Branch: "sandboxrun/mend-" + d.ID()}})
	}
	for name, want := range map[string]*RunDir{
		Newest: other, "mend": second, "sandboxrun/mend-" + first.ID(): first, "refs/heads/sandboxrun/mend-" + second.ID(): second,
		first.ID(): first, "nothing": nil, "": nil, "../x": nil, "sandboxrun/": nil,
	} {
		got, err := s.FindNamed(name)
		if (want == nil) != (err != nil) || want != nil && got.ID() != want.ID() {
			t.Errorf("%q: %v, %v", name, got, err)
		}
	}
	if list, err := s.ListOf(1, func(i RunInfo) bool { return i.Status == "success" }); err != nil || len(list) != 1 || list[0].RunID != second.ID() {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestFindTakesAnUnambiguousPrefix(t *testing.T) {
	t.Parallel()
	s := newState(t)
	for _, id := range []string{"01j0000000000000000000000a", "01j0000000000000000000000b", "01k00000000000000000000000"} {
		if err := os.Mkdir(s.runDir(id), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct{ prefix, want string }{
		{"01k", "01k00000000000000000000000"},
		{"01K", "01k00000000000000000000000"},
		{"01j0000000000000000000000a", "01j0000000000000000000000a"},
		{"01j", ""}, {"", ""}, {"9", ""}, {"../", ""},
	}
	for _, tt := range tests {
		d, err := s.Find(tt.prefix)
		var bad *document.InputError
		switch {
		case tt.want == "" && !errors.As(err, &bad):
			t.Errorf("Find(%q) = %v, %v, want an InputError", tt.prefix, d, err)
		case tt.want != "" && (err != nil || d.ID() != tt.want):
			t.Errorf("Find(%q) = %v, %v, want %s", tt.prefix, d, err, tt.want)
		}
	}
}

func TestRemoveRefusesLiveAndUnsettledRuns(t *testing.T) {
	t.Parallel()
	s := newState(t)
	live, dead, ended := newRun(t, s), newRun(t, s), newRun(t, s)
	crash(t, dead)
	finish(t, ended, &document.Result{})
	for _, d := range []*RunDir{live, dead} {
		found, err := s.Find(d.ID())
		if err != nil {
			t.Fatal(err)
		}
		var bad *document.InputError
		if err := s.Remove(found); !errors.As(err, &bad) || bad.Hint == "" {
			t.Errorf("Remove = %v, want an InputError with a hint", err)
		}
		if _, err := os.Stat(d.Dir()); err != nil {
			t.Error(err)
		}
	}
	if err := s.Remove(ended); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(s.runsDir())
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 {
		t.Errorf("entries %v, want the two others", entries)
	}
}

func TestSweepsRemainsOfInterruptedSteps(t *testing.T) {
	t.Parallel()
	s := newState(t)
	for _, name := range []string{".new-a", ".gone-b"} {
		if err := os.Mkdir(filepath.Join(s.runsDir(), name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	creation, err := s.creationLock(false)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{2, 0} {
		if want == 0 { // no run is being made any more
			if err := creation.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.crashed(func(*RunDir) error { return nil }); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(s.runsDir())
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) != want {
			t.Errorf("left: %v, want %d", entries, want)
		}
	}
}

func TestFollowerOfACrashedRunEnds(t *testing.T) {
	t.Parallel()
	s := newState(t)
	d := newRun(t, s)
	j, err := d.Journal()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append(journal.Event{Phase: "agent", Kind: "raw", Data: []byte("1")}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	crash(t, d)
	var events []journal.Event
	for e, err := range d.Events(t.Context(), 1, true) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	if len(events) != 1 {
		t.Errorf("events %+v", events)
	}
}
