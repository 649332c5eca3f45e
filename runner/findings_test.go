package runner

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/gitdiff"
	"sandboxrun/sandbox"
)

func TestStatusFollowsTheGravestFindingAndWhetherSomethingChanged(t *testing.T) {
	t.Parallel()
	changed := &gitdiff.Diff{Changes: make([]gitdiff.Change, 1)}
	cases := map[string]struct {
		found []severity
		diff  *gitdiff.Diff
		want  Status
	}{
		"nothing found":                     {nil, changed, StatusSuccess},
		"nothing found, nothing changed":    {nil, &gitdiff.Diff{}, StatusSuccess},
		"notes change nothing":              {[]severity{note, note}, changed, StatusSuccess},
		"a flaw":                            {[]severity{note, flaw, note}, changed, StatusPartial},
		"a flaw without a change":           {[]severity{flaw}, &gitdiff.Diff{}, StatusPartial},
		"fruitless with a change":           {[]severity{fruitless}, changed, StatusPartial},
		"fruitless without a change":        {[]severity{fruitless}, &gitdiff.Diff{}, StatusFailed},
		"fruitless and the tree never read": {[]severity{fruitless}, nil, StatusFailed},
		"fatal with a change":               {[]severity{fatal, note}, changed, StatusFailed},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := &run{diff: c.diff}
			for _, s := range c.found {
				x.findings.add(s, Issue{Code: "x"})
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
		f.add(note, Issue{Code: fmt.Sprint(i)})
	}
	f.list[7].severity = fatal
	f.add(flaw, Issue{Code: "one too many"})
	got := f.sorted()
	if len(got) != maxIssues+1 || got[0].Code != "7" || got[1].Code != "one too many" || got[2].Code != "0" || got[maxIssues].Code != CodeIssuesOmitted {
		t.Errorf("%d issues, first %v, last %v", len(got), got[:2], got[len(got)-1])
	}
	full := findings{}
	for range maxIssues {
		full.add(fatal, Issue{Code: "x"})
	}
	full.add(flaw, Issue{Code: "not listed"})
	if full.omitted != 1 || f.worst != flaw || full.worst != fatal {
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
		"broken":    {&sandbox.EngineError{Op: "start exec", Err: errors.New("status 500")}, CodeEngineFailed},
		"objects":   {&gitdiff.MissingObjectError{ID: "0"}, CodeObjectsMissing},
		"image":     {&sandbox.ImageError{Image: "x"}, CodeImageUnusable},
		"policy":    {&sandbox.PolicyError{}, CodePolicyNotApplied},
		"signal":    {fmt.Errorf("agent: %w", Interrupted{syscall.SIGINT}), CodeInterrupted},
		"box ended": {fmt.Errorf("command: %w", &sandbox.EndedError{Code: 137}), CodeBoxEnded},
		"setup":     {&setupError{command: "x"}, "setup_failed"},
		"cleanup":   {&cleanupError{what: "box", err: &sandbox.UnavailableError{Err: errors.New("gone")}}, "cleanup_failed"},
		"budget":    {&gitdiff.BudgetError{}, CodeTreeTooLarge},
		"unstable":  {fmt.Errorf("capture: %w", gitdiff.ErrTreeUnstable), "tree_unstable"},
		"our own":   {errors.New("unexpected"), CodeRunnerError},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := &run{log: newLog(newJournal(t, wide), nil)}
			x.fail("agent", c.err)
			if len(x.findings.list) != 1 || x.findings.list[0].Code != c.code || !x.findings.stopped {
				t.Errorf("findings %+v", x.findings.list)
			}
		})
	}
}

func TestTheEchoOfALimitIsNotASecondIssue(t *testing.T) {
	t.Parallel()
	x := &run{log: newLog(newJournal(t, wide), nil)}
	limit := &sandbox.LimitError{Limit: sandbox.LimitTime}
	x.fail("agent", limit)
	x.fail("verify", limit)
	x.fail("close", &cleanupError{what: "box", err: limit})
	var got []string
	for _, i := range x.findings.list {
		got = append(got, i.Code)
	}
	if d := cmp.Diff([]string{"runtime_limit", "cleanup_failed"}, got); d != "" {
		t.Error(d)
	}
}

func TestATreeWhoseBoxMayStillRunIsNotCaptured(t *testing.T) {
	t.Parallel()
	x := &run{log: newLog(newJournal(t, wide), nil), tree: &gitdiff.Workspace{}}
	if x.treeless() {
		t.Fatal("a tree without a box is to be captured")
	}
	// The box was opened, its tunnel failed, and it could not be removed again.
	x.fail("open", &cleanupError{what: leftBox, err: errors.New("engine gone")})
	if !x.treeless() {
		t.Error("the tree would be read while its box may write to it")
	}
}
