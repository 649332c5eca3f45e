package runner

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
)

// compact writes a claim as source, words, says, measured, agrees.
func compact(c document.Claim) string {
	agrees := "-"
	if c.Agrees != nil {
		agrees = strconv.FormatBool(*c.Agrees)
	}
	return fmt.Sprintf("%s %s: %s/%s %s", c.Source, c.Command, c.Says, c.Measured, agrees)
}

func TestClaimsStandBesideWhatWasMeasured(t *testing.T) {
	t.Parallel()
	zero, one := 0, 1
	outcome := func(command string, exit *int) verifyOutcome {
		return verifyOutcome{VerifyCommand: plan.VerifyCommand{Command: command}, run: document.CommandRun{ExitCode: exit}}
	}
	e := evidence{
		verified: []verifyOutcome{outcome("npm test", &one), outcome("npm run lint", &zero), outcome("make", nil)},
		commands: []document.CommandRun{
			{Command: "cd /workspace && npm test", ExitCode: &zero, Source: "agent"}, {Command: "npm run lint", ExitCode: nil, Source: "agent"},
			{Command: "ls", ExitCode: &zero, Source: "agent"}, {Command: "npm test", ExitCode: &one, Source: "runner"},
		},
	}
	red := false
	for message, want := range map[string][]string{
		"":                                         nil,
		"I ran `npm test` and it passes.":          {"final_message npm test: passed/failed false"},
		"`npm test` fails with 1 error":            {"final_message npm test: failed/failed true"},
		"I ran npm run lint.":                      {"final_message npm run lint: ran/passed -"},
		"npm run lint: 0 failures":                 {"final_message npm run lint: passed/passed true"},
		"`npm test` does not pass yet":             {"final_message npm test: failed/failed true"},
		"`make` succeeds":                          {"final_message make: passed/unmeasured -"},
		"All tests pass.":                          {"final_message : passed/failed false"},
		"所有测试已通过":                                  {"final_message : passed/failed false"},
		"运行 `npm test`,未通过":                        {"final_message npm test: failed/failed true"},
		"I renamed a function.":                    nil,
		"Passing a pointer is faster.":             nil,
		"All tests pass.\n`npm run lint` is green": {"final_message : passed/failed false", "final_message npm run lint: passed/passed true"},
	} {
		e.outcome = &agents.Outcome{Claim: message}
		want = append([]string{"tool_call npm test: passed/failed false", "tool_call npm run lint: ran/passed -"}, want...)
		var got []string
		for _, c := range claimsOf(e, document.Tests{Passed: &red}) {
			got = append(got, compact(c))
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%q:\n%s\nwant\n%s", message, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	e.outcome = &agents.Outcome{Claim: strings.Repeat("npm test passes "+strings.Repeat("x", 10_000)+"\n", 10_000)}
	list := claimsOf(e, document.Tests{})
	for _, c := range list {
		if len(c.Text) > 2*maxClaimLine {
			t.Errorf("a claim of %d bytes", len(c.Text))
		}
	}
	if len(list) > maxClaims {
		t.Errorf("%d claims", len(list))
	}
}
