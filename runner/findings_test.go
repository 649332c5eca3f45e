package runner

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/change"
	"sandboxrun/gitdiff/gitobj"
	"sandboxrun/gitdiff/workspace"
	"sandboxrun/runner/box"
	"sandboxrun/runner/document"
	"sandboxrun/sandbox"
)

func TestStatusFollowsTheGravestFindingAndWhetherSomethingChanged(t *testing.T) {
	t.Parallel()
	changed := &change.Diff{Changes: make([]change.Change, 1)}
	cases := map[string]struct {
		found []document.Severity
		diff  *change.Diff
		want  document.Status
	}{
		"nothing found":                     {nil, changed, document.StatusSuccess},
		"nothing found, nothing changed":    {nil, &change.Diff{}, document.StatusSuccess},
		"notes change nothing":              {[]document.Severity{document.SeverityNote, document.SeverityNote}, changed, document.StatusSuccess},
		"a flaw":                            {[]document.Severity{document.SeverityNote, document.SeverityFlaw, document.SeverityNote}, changed, document.StatusPartial},
		"a flaw without a change":           {[]document.Severity{document.SeverityFlaw}, &change.Diff{}, document.StatusPartial},
		"fruitless with a change":           {[]document.Severity{document.SeverityFruitless}, changed, document.StatusPartial},
		"fruitless without a change":        {[]document.Severity{document.SeverityFruitless}, &change.Diff{}, document.StatusFailed},
		"fruitless and the tree never read": {[]document.Severity{document.SeverityFruitless}, nil, document.StatusFailed},
		"fatal with a change":               {[]document.Severity{document.SeverityFatal, document.SeverityNote}, changed, document.StatusFailed},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := &facts{change: captured{diff: c.diff}}
			for _, s := range c.found {
				x.report.add(issue("x", "").withSeverity(s))
			}
			if got := x.status(); got != c.want {
				t.Errorf("status %s, want %s", got, c.want)
			}
		})
	}
}

func TestIssuesAreGravestFirstAndBounded(t *testing.T) {
	t.Parallel()
	var f findings
	for i := range maxIssues {
		f.add(issue(fmt.Sprint(i), "").withSeverity(document.SeverityNote))
	}
	f.list[7].severity = document.SeverityFatal
	f.add(issue("one too many", "").withSeverity(document.SeverityFlaw))
	got := f.sorted()
	if len(got) != maxIssues+1 || got[0].Code != "7" || got[1].Code != "one too many" || got[2].Code != "0" || got[maxIssues].Code != document.CodeIssuesOmitted {
		t.Errorf("%d issues, first %v, last %v", len(got), got[:2], got[len(got)-1])
	}
	full := findings{}
	for range maxIssues {
		full.add(issue("x", "").withSeverity(document.SeverityFatal))
	}
	full.add(issue("not listed", "").withSeverity(document.SeverityFlaw))
	if full.omitted != 1 || f.worst != document.SeverityFlaw || full.worst != document.SeverityFatal {
		t.Errorf("%d omitted, worst %d and %d: what is not listed must still count", full.omitted, f.worst, full.worst)
	}
}

func TestFailuresOfPhasesHaveTheirCode(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		err  error
		code string
	}{
		"time":      {fmt.Errorf("agent: %w", &sandbox.LimitError{Limit: sandbox.LimitTime}), "runtime_limit"},
		"memory":    {&sandbox.LimitError{Limit: sandbox.LimitMemory}, "memory_limit"},
		"full disk": {fmt.Errorf("write: %w", syscall.ENOSPC), "disk_limit"},
		"engine":    {&sandbox.UnavailableError{Op: "ping", Err: errors.New("gone")}, "engine_lost"},
		"broken":    {&sandbox.EngineError{Op: "start exec", Err: errors.New("status 500")}, document.CodeEngineFailed},
		"objects":   {&gitobj.MissingError{ID: "0"}, document.CodeObjectsMissing},
		"image":     {&sandbox.ImageError{Image: "x"}, document.CodeImageUnusable},
		"policy":    {&sandbox.PolicyError{}, document.CodePolicyNotApplied},
		"signal":    {fmt.Errorf("agent: %w", document.Interrupted{Signal: syscall.SIGINT}), document.CodeInterrupted},
		"box ended": {fmt.Errorf("command: %w", &sandbox.EndedError{Code: 137}), document.CodeBoxEnded},
		"setup":     {&setupError{command: "x"}, "setup_failed"},
		"cleanup":   {&document.CleanupError{What: "box", Err: &sandbox.UnavailableError{Err: errors.New("gone")}}, "cleanup_failed"},
		"budget":    {&gitdiff.BudgetError{}, document.CodeTreeTooLarge},
		"unstable":  {fmt.Errorf("capture: %w", gitdiff.ErrTreeUnstable), "tree_unstable"},
		"our own":   {errors.New("unexpected"), document.CodeRunnerError},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newReport(testLog(t), 0)
			x.fail("agent", c.err)
			if len(x.list) != 1 || x.list[0].Code != c.code || !x.stopped {
				t.Errorf("findings %+v", x.list)
			}
		})
	}
}

func TestTheEchoOfALimitIsNotASecondIssue(t *testing.T) {
	t.Parallel()
	x := newReport(testLog(t), 0)
	limit := &sandbox.LimitError{Limit: sandbox.LimitTime}
	x.fail("agent", limit)
	x.fail("verify", limit)
	x.fail("close", &document.CleanupError{What: "box", Err: limit})
	var got []string
	for _, i := range x.list {
		got = append(got, i.Code)
	}
	if d := cmp.Diff([]string{"runtime_limit", "cleanup_failed"}, got); d != "" {
		t.Error(d)
	}
}

func TestATreeWhoseBoxMayStillRunIsNotCaptured(t *testing.T) {
	t.Parallel()
	x := &run{trees: box.Trees{Working: &workspace.Workspace{}}}
	if skipSnapshot(x) {
		t.Fatal("a tree without a box is not captured")
	}
	x.boxes.Working = &box.Box{}
	if !skipSnapshot(x) {
		t.Error("the tree would be read while its box may write to it")
	}
}

func TestAReachedLimitIsToldWithItsMeasure(t *testing.T) {
	t.Parallel()
	rep := newReport(nil, 100)
	tests := []struct {
		err  error
		want *document.ReachedLimit
	}{
		{errors.New("else"), nil},
		{&sandbox.LimitError{Limit: sandbox.LimitMemory}, nil},
		{fmt.Errorf("x: %w", &sandbox.LimitError{Which: sandbox.MeasureTreeFiles, Allowed: 3, Measured: 7}), &document.ReachedLimit{Name: "tree_files", Allowed: 3, Measured: 7}},
		{&sandbox.LimitError{Which: sandbox.MeasureOutput, Allowed: 10, Measured: 11}, &document.ReachedLimit{Name: "output_bytes", Allowed: 100, Measured: 101}},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, rep.limitReached(tt.err)); d != "" {
			t.Errorf("%v (-want +got):\n%s", tt.err, d)
		}
	}
}
