package render

import (
	"strings"
	"testing"

	"sandboxrun/runner/document"
)

func TestReportShowsEverythingOfAResult(t *testing.T) {
	t.Parallel()
	zero := 0
	res := &document.Result{
		Status: document.StatusPartial, Summary: "1 file changed", RunID: "r1", TaskID: "t1", NotesForHuman: "look twice",
		FilesChanged: []document.FileChange{{Path: "b.go", OldPath: "a.go", ChangeType: "added", Additions: 2, Highlights: []string{"func B"}}},
		CommandsRun: []document.CommandRun{
			{Command: "go test", ExitCode: &zero, Source: "runner", Phase: "verify"},
			{Command: "make all", Source: "agent", Phase: "agent"},
		},
		Constraints: []document.Judged{{Text: "be brief", Verdict: "unverifiable"}},
		Acceptance:  []document.Judged{{Text: "go test", Verdict: "pass", Evidence: "exit 0"}},
		Issues:      []document.Issue{{Code: "command_failed", Description: "it failed", SuggestedAction: "mend it", Path: "b.go"}},
		Git:         document.GitResult{BaseCommit: "c0ffee", Branch: "sandboxrun/t1"},
		Agent:       &document.AgentResult{Name: "claude", Claim: "all done"},
		Box: &document.BoxResult{Engine: "docker 29", Network: document.BoxNetwork{Denied: []string{"evil.example"}},
			Cleanup: document.BoxCleanup{Left: []string{"box"}}},
		Timing: map[string]int64{"agent": 1500, "open": 20, "total": 61000},
	}
	var out strings.Builder
	if err := WriteReport(&out, Terminal{}, res); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"partial  1 file changed", "run r1  task t1", "look twice", "added    b.go (+2 -0) from a.go  func B",
		"exit 0       go test  (verify)", "did not end  make all  (the agent says)", "unverifiable  be brief", "pass          go test: exit 0",
		"command_failed: b.go: it failed", "→ mend it", "branch  sandboxrun/t1", "claims: all done", "network denied: evil.example",
		"not confirmed as removed: box", "1m1s: agent 1.5 s, open 20 ms",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("report lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(out.String())
	}
}

func TestReportEscapesUntrustedText(t *testing.T) {
	t.Parallel()
	evil := "x\x1b[2Jy\u202e"
	res := &document.Result{
		Summary: evil, NotesForHuman: evil,
		FilesChanged: []document.FileChange{{Path: evil, OldPath: evil, Highlights: []string{evil}}},
		CommandsRun:  []document.CommandRun{{Command: evil}},
		Acceptance:   []document.Judged{{Text: evil, Evidence: evil}},
		Issues:       []document.Issue{{Code: "c", Description: evil, Path: evil}},
		Agent:        &document.AgentResult{Claim: evil, CLIVersion: evil, Model: evil},
		Box:          &document.BoxResult{Network: document.BoxNetwork{Denied: []string{evil}}},
	}
	var out strings.Builder
	if err := WriteReport(&out, Terminal{IsTTY: true, width: 100}, res); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\x1b\u202e") {
		t.Errorf("report keeps control characters: %q", out.String())
	}
}

func TestShownPatchIsEscapedAndBounded(t *testing.T) {
	t.Parallel()
	patch := "diff --git a/x b/x\n+\ttabs stay\n+\x1b[31mred\n-" + strings.Repeat("long", MaxLine) + "\n context\n"
	var out strings.Builder
	if err := WritePatch(&out, Terminal{IsTTY: true, width: 80}, strings.NewReader(patch)); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 6 || lines[1] != "+\ttabs stay" || lines[2] != `+\x1b[31mred` || lines[4] != " context" {
		t.Errorf("shown as %.200q", lines)
	}
	if len(lines[3]) > 2*MaxLine {
		t.Errorf("line of %d bytes", len(lines[3]))
	}
}
