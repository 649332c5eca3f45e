package prompt

import (
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/runner/approval"
)

func TestOnlyTheKeysThatAreNamedDecide(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]approval.Answer{
		"y": {Allow: true}, "Yes": {Allow: true}, "a": {Allow: true, For: approval.ScopeExact}, "t": {Allow: true, For: approval.ScopeTool}, "c": {Allow: true, For: approval.ScopePrefix},
		"n": {Reason: "denied by the user"}, "no": {Reason: "denied by the user"}, "n not that file": {Reason: "denied by the user: not that file"},
		"use the other file": {Reason: "denied by the user: use the other file"},
	} {
		want.By = "terminal"
		if a, again := decided(line, "npm test"); again != "" || a.Allow != want.Allow || a.Reason != want.Reason || a.For != want.For || a.By != want.By {
			t.Errorf("%q: %+v, %q", line, a, again)
		}
	}
	for _, line := range []string{"", "x", "j", "yy", "q", "1", "y z", "a b"} {
		if a, again := decided(line, "npm test"); again == "" {
			t.Errorf("%q decides: %+v", line, a)
		}
	}
	if _, again := decided("c", ""); again == "" {
		t.Error("c decides where there is no beginning to allow")
	}
	if _, again := decided("?", "npm\x1b[2J"); !strings.Contains(again, "begins with") || strings.ContainsRune(again, 0x1b) {
		t.Errorf("explained: %q", again)
	}
}

func TestNumbersOfOptionsAreChecked(t *testing.T) {
	t.Parallel()
	q := agents.Question{Options: []agents.QuestionOption{{Label: "red"}, {Label: "blue"}}}
	if list, wrong := choose(q, "2"); wrong != "" || len(list) != 1 || list[0] != "blue" {
		t.Errorf("%v, %q", list, wrong)
	}
	for _, line := range []string{"0", "3", "-1"} {
		if list, wrong := choose(q, line); wrong == "" {
			t.Errorf("%q chooses %v", line, list)
		}
	}
	q.Multiple = true
	if list, wrong := choose(q, "1, green"); wrong != "" || len(list) != 2 {
		t.Errorf("%v, %q", list, wrong)
	}
	if _, wrong := choose(q, "1,7"); wrong == "" {
		t.Error("one wrong number of two is taken")
	}
	if list, wrong := choose(agents.Question{}, "7"); wrong != "" || list[0] != "7" {
		t.Errorf("%v, %q", list, wrong)
	}
}
