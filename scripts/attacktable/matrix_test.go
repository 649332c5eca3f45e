package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/cmd/sandboxrun/attack"
	"sandboxrun/cmd/sandboxrun/attack/table"
)

// made writes the outcomes of all attacks.
func made(t *testing.T, end func(a attack.Attack, against string) string) string {
	t.Helper()
	var all []attack.Outcome
	for _, a := range table.All() {
		for _, o := range opponents {
			if state := end(a, o.against); state != "" {
				all = append(all, attack.Outcome{ID: a.ID, Group: a.Group, Title: a.Title, Against: o.against, State: state, Detail: "because"})
			}
		}
	}
	return file(t, "attacks.json", marshal(t, all))
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheTablesFollowTheAttacks(t *testing.T) {
	t.Parallel()
	document := file(t, "SECURITY.md", "before\n"+begin+"\nold\n"+end+"\nafter\n")
	outcomes := made(t, func(a attack.Attack, against string) string {
		switch {
		case a.ID == "F07" && against == "naive":
			return attack.Skipped
		case against == "naive":
			return attack.Breached
		}
		return attack.Held
	})
	var out strings.Builder
	if err := run(&out, outcomes, document, true); err == nil || !strings.Contains(err.Error(), "scripts/attack-table") {
		t.Errorf("an old table: %v", err)
	}
	if err := run(&out, outcomes, document, false); err != nil {
		t.Fatal(err)
	}
	if err := run(&out, outcomes, document, true); err != nil {
		t.Errorf("a new table: %v", err)
	}
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"before\n", "\nafter\n", "| G02 |", " breached | held | held |", "- F07, plain container, host git: because", "| **all** | 0 of "} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the document lacks %q:\n%.2000s", want, text)
		}
	}
}

func TestTheTablesAreLeftAloneWithoutAllOutcomes(t *testing.T) {
	t.Parallel()
	const text = "x\n" + begin + "\nold\n" + end + "\n"
	document := file(t, "SECURITY.md", text)
	some := made(t, func(_ attack.Attack, against string) string {
		if against == "runsc" {
			return ""
		}
		return attack.Held
	})
	for _, outcomes := range []string{some, filepath.Join(t.TempDir(), "missing.json")} {
		var out strings.Builder
		if err := run(&out, outcomes, document, false); err != nil || !strings.Contains(out.String(), "left alone") {
			t.Errorf("%v: %s", err, out.String())
		}
	}
	if got, err := os.ReadFile(document); err != nil || string(got) != text {
		t.Errorf("%v: %s", err, got)
	}
}
