package view

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/state"
)

func TestARunIsShownFromItsDirectoryToItsResult(t *testing.T) {
	t.Parallel()
	st, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Of(st, state.NewID()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no run: %v", err)
	}
	d, err := st.NewRun()
	if err != nil {
		t.Fatal(err)
	}
	show := func(want State) RunView {
		t.Helper()
		v, err := Of(st, d.ID())
		if err != nil || v.State != want {
			t.Errorf("%+v, %v; want %s", v, err, want)
		}
		return v
	}
	show(Starting)
	p := &plan.Plan{TaskID: "task", RepoRoot: "/repo", Objective: "Mend it.", Session: "s", MaxRuntimeSeconds: 60,
		Agent: &plan.Agent{Name: "claude", Variant: "DEFAULT", Model: "asked"}}
	j, err := d.Journal()
	if err := errors.Join(err, d.WritePlan(p), d.WriteWorker(state.Worker{Attempt: 2})); err != nil {
		t.Fatal(err)
	}
	if v := show(Starting); v.TaskID != "task" || v.Attempts != 2 || v.WorkspaceID != WorkspaceID("/repo") || len(v.WorkspaceID) != 16 || v.Agent != "claude" {
		t.Errorf("%+v", v)
	}
	if _, err := j.Append(journal.Event{Time: time.Now(), Phase: "prepare", Kind: journal.EventPhaseStarted}); err != nil {
		t.Fatal(err)
	}
	if v := show(Running); v.Phase != "prepare" {
		t.Errorf("phase %q", v.Phase)
	}
	res := &document.Result{TaskID: "task", RunID: d.ID(), Status: document.StatusPartial, Summary: "2 files changed", FilesOmitted: 1, EndedAt: time.Now(),
		FilesChanged: []document.FileChange{{Additions: 2, Deletions: 1}, {Additions: 3}},
		Issues:       []document.Issue{{Code: "a"}, {Code: "b"}, {Code: "a"}}, Git: document.GitResult{Branch: "sandboxrun/task"},
		Agent: &document.AgentResult{Model: "used", Usage: document.AgentUsage{InputTokens: 5, OutputTokens: 7}}}
	if err := d.Finish(res, j.Close, nil); err != nil {
		t.Fatal(err)
	}
	v := show(Ended)
	if v.Files != 3 || v.Additions != 5 || v.Deletions != 1 || !slices.Equal(v.Issues, []string{"a", "b"}) || v.Branch != "sandboxrun/task" ||
		v.Model != "used" || v.Tokens != (Tokens{5, 7}) || v.Phase != "" || v.EndedAt == nil || v.Status != document.StatusPartial {
		t.Errorf("%+v", v)
	}
	if text, err := json.Marshal(v); err != nil || !strings.Contains(string(text), `"state":"ended"`) {
		t.Errorf("%s, %v", text, err)
	}
	if err := st.Remove(d); err != nil {
		t.Fatal(err)
	}
	if _, err := Of(st, d.ID()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a removed run: %v", err)
	}
}

func TestADeadRunIsShownAsCrashed(t *testing.T) {
	t.Parallel()
	st, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d, err := st.NewRun()
	if err := errors.Join(err, d.Unlock()); err != nil {
		t.Fatal(err)
	}
	if v, err := Of(st, d.ID()); err != nil || v.State != Crashed {
		t.Errorf("%+v, %v", v, err)
	}
}
