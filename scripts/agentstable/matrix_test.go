package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/internal/wire"
	"sandboxrun/scripts/marked"
)

// outcomes writes the events of a run of all tests of one agent.
func outcomes(t *testing.T, action func(test string) string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("not an event\n" + `{"Action":"pass","Package":"other/room","Test":"TestConformance/isolation/network"}` + "\n")
	for _, c := range columns {
		test := fmt.Sprintf(c.test, "demo")
		if a := action(test); a != "" {
			fmt.Fprintf(&b, "{\"Action\":\"run\",\"Test\":%q}\n{\"Action\":%q,\"Package\":\"sandboxrun/agents/conformance\",\"Test\":%q}\n", test, a, test)
		}
	}
	path := filepath.Join(t.TempDir(), "test.json")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func readme(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "README.md")
	if err := os.WriteFile(path, []byte("before\n"+begin+"\nold\n"+end+"\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheTableFollowsTheTests(t *testing.T) {
	t.Parallel()
	events := outcomes(t, func(test string) string {
		switch {
		case strings.HasSuffix(test, "/question"):
			return "skip"
		case strings.HasSuffix(test, "/silence"):
			return "fail"
		}
		return "pass"
	})
	doc := readme(t)
	var out strings.Builder
	if err := run(&out, events, doc, true); err == nil {
		t.Error("an old table passes the check")
	}
	if err := run(&out, events, doc, false); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"before\n", "| | demo |", "| asks questions | – |", "| provider silent | ✗ |", "| key refused | ✓ |", "\nafter\n"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if err := run(&out, events, doc, true); err != nil {
		t.Errorf("the new table does not pass the check: %v", err)
	}
}

func TestPartialResultsLeaveTheTableUnchanged(t *testing.T) {
	t.Parallel()
	events := outcomes(t, func(test string) string {
		if strings.HasSuffix(test, "/cancel") {
			return ""
		}
		return "pass"
	})
	doc := readme(t)
	var out strings.Builder
	if err := run(&out, events, doc, false); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(doc); err != nil || !strings.Contains(string(got), "\nold\n") {
		t.Errorf("the table was written: %s %v", got, err)
	}
}

func TestDocumentWithoutMarksIsAnError(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{"", begin, end + begin} {
		if _, err := (marked.Part{Begin: begin, End: end}).Put(doc, "x"); err == nil {
			t.Errorf("%q has a place", doc)
		}
	}
}

// The list of agents comes from the registry, so it needs no results of tests.
func TestDocumentListsTheAgents(t *testing.T) {
	t.Parallel()
	if err := updateRoster("../../docs/agents.md", true); err != nil {
		t.Error(err)
	}
	for _, w := range wire.All() {
		if wireTitles[w] == "" {
			t.Errorf("internal/wire has %s: wireTitles in roster.go has no name for it", w)
		}
	}
}
