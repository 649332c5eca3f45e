package runner

import (
	"strings"
	"testing"

	"sandboxrun/runner/document"
)

func TestWhatACommandFailedOfClassesItsIssue(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		exit           int
		stderr, stdout string
		tested         bool
		refused        []string
		env            bool
		says, action   string
	}{
		"red":                          {exit: 1, stderr: "1 test failed"},
		"green":                        {exit: 0, stderr: "no space left on device"},
		"a missing program":            {exit: 127, stderr: "sh: 1: tool: not found", env: true, says: `no program "tool"`, action: "box.image"},
		"a refused host":               {exit: 1, stderr: "getaddrinfo EAI_AGAIN files.example.com", refused: []string{"files.example.com:443"}, env: true, says: "files.example.com", action: "box.network.allow"},
		"another refused host":         {exit: 1, stderr: "red", refused: []string{"files.example.com:443"}},
		"killed":                       {exit: 137, env: true, says: "memory", action: "box.memory"},
		"out of heap":                  {exit: 134, stderr: "FATAL ERROR: JavaScript heap out of memory", env: true, says: "memory", action: "box.memory"},
		"a full disk":                  {exit: 1, stdout: "write /tmp/x: no space left on device", env: true, says: "space", action: "box.disk"},
		"red tests that speak of it":   {exit: 1, stdout: "not ok: no space left on device", tested: true},
		"red tests, killed at the end": {exit: 137, tested: true},
	} {
		c := document.CommandRun{Command: "tool --check", ExitCode: &tt.exit, StderrExcerpt: tt.stderr, StdoutExcerpt: tt.stdout}
		got := causeOf(c, tt.tested, "node:22", tt.refused)
		i := issue(document.CodeAcceptanceFailed, "x").of(got)
		want := document.IssueTestFailure
		if tt.env {
			want = document.IssueEnv
		}
		if i.Type != want || !strings.Contains(got.what, tt.says) || tt.env && !strings.Contains(i.SuggestedAction, tt.action) {
			t.Errorf("%s: %+v, issue %+v", name, got, i)
		}
	}
	if got := causeOf(document.CommandRun{StderrExcerpt: "no space left on device"}, false, "", nil); got.what != "" {
		t.Errorf("a command that did not end: %+v", got)
	}
}

// The types of issues are those that callers branch on.
func TestIssuesAreClassedByWhoCanHelp(t *testing.T) {
	t.Parallel()
	for want, codes := range map[document.IssueType][]string{
		document.IssueEnv:                {document.CodeMemoryLimit, document.CodeDiskLimit, document.CodeEgressDenied, document.CodeSetupFailed, document.CodeImageUnusable},
		document.IssueTestFailure:        {document.CodeAcceptanceFailed, document.CodeCommandFailed},
		document.IssueConflict:           {document.CodeConstraintViolated, document.CodeProtectedPath, document.CodeHarness},
		document.IssueUnclearRequirement: {document.CodeConstraintUnverifiable, document.CodeCriterionUnverifiable, document.CodeCriterionText, document.CodeContradiction},
	} {
		for _, code := range codes {
			if k := document.KindOfIssue(code); k.Type != want || k.Action == "" {
				t.Errorf("%s is %s, want %s", code, k.Type, want)
			}
		}
	}
}
