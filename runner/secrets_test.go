package runner

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandboxrun/agents"
	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/capture"
	"sandboxrun/gitdiff/change"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/reader"
	"sandboxrun/runner/scan"
	"sandboxrun/runner/state"
	"sandboxrun/sandbox/egress"
	"sandboxrun/schemas/closed"
)

const testSecret = "not-a-real-key-0123456789"

// secretRun is a run with a journal and a key, and no box.
func secretRun(t *testing.T, key egress.KeyFunc) *run {
	t.Helper()
	newID := state.NewID
	state, err := state.Open(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	r := New(Options{State: state, Config: config.Default()})
	x, err := r.newRun(t.Context(), Identity{ID: newID()}, &plan.Plan{Agent: &plan.Agent{Provider: "anthropic"}}, &ready{key: key}, time.Now(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(x.record.Close(), x.record.Dir.Unlock()); err != nil {
			t.Error(err)
		}
	})
	return x
}

func eventsOf(t *testing.T, x *run) string {
	t.Helper()
	text, err := os.ReadFile(x.record.Dir.EventsPath())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAKeyIsKnownBeforeItsFirstRequestAndAfterItWasRenewed(t *testing.T) {
	t.Parallel()
	current := testSecret
	x := secretRun(t, func(context.Context) (egress.Credential, error) { return egress.CredentialOf(current), nil })
	x.record.Log.Pass("agent", agents.Event{Kind: "raw", Data: map[string]any{"text": "k " + testSecret + " " + x.boxes.Token, testSecret: json.RawMessage(`"\u006eot-a-real-key-0123456789"`)}})
	current = "renewed-" + testSecret[:12]
	if _, err := x.key(t.Context()); err != nil {
		t.Fatal(err)
	}
	x.record.Log.Emit("agent", journal.SystemMessage{Text: base64.StdEncoding.EncodeToString([]byte(current))})
	got := eventsOf(t, x)
	for line := range strings.SplitSeq(strings.TrimSpace(got), "\n") {
		if err := closed.Validate("event", []byte(line)); err != nil {
			t.Errorf("%v: %s", err, line)
		}
	}
	if strings.Contains(got, "real-key") || strings.Contains(got, x.boxes.Token) || strings.Count(got, "[redacted:anthropic-key]") != 4 || !strings.Contains(got, "[redacted:placeholder]") {
		t.Errorf("journal:\n%s", got)
	}
}

func TestAKeyTooPlainToBeHiddenIsTold(t *testing.T) {
	t.Parallel()
	x := secretRun(t, egress.StaticKey("dummy"))
	x.record.Log.Emit("agent", journal.SystemMessage{Text: "a dummy"})
	if got := eventsOf(t, x); !strings.Contains(got, "the key of provider anthropic is not kept out of logs and results") || !strings.Contains(got, "a dummy") {
		t.Errorf("journal:\n%s", got)
	}
}

// changed is a run that has captured a change of these files.
func changed(t *testing.T, files map[string]string) *run {
	t.Helper()
	x := secretRun(t, egress.StaticKey(testSecret))
	r := gitdifftest.New(t)
	r.Write("base", "x\n")
	r.Commit("base")
	before := r.Git("rev-parse", "HEAD^{tree}")
	for name, text := range files {
		r.Write(name, text)
	}
	r.Commit("after")
	repo, err := gitdiff.Open(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := gitdiff.NewStore(x.r.o.State.TreesDir()).For(repo)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(objects.Close(), repo.Close()); err != nil {
			t.Error(err)
		}
	})
	if x.change.diff, err = change.Compare(t.Context(), objects, before, r.Git("rev-parse", "HEAD^{tree}")); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestAKnownSecretKeepsTheChangeFromLandingAndThereIsNoPatch(t *testing.T) {
	t.Parallel()
	x := changed(t, map[string]string{"a.txt": testSecret + "\n"})
	leaks, err := scan.Change(t.Context(), x.change.diff, scan.Policy{Secrets: x.record.Secrets})
	if err != nil {
		t.Fatal(err)
	}
	x.change.took(reader.Reading{Snapshot: &capture.Snapshot{}, Diff: x.change.diff, Leaks: &leaks}, "", config.Land{}, &x.report.findings)
	issues := x.report.sorted()
	if len(issues) != 1 || issues[0].Code != document.CodeSecretInDiff || issues[0].Path != "a.txt" || !strings.Contains(issues[0].Description, "holds the value of") {
		t.Errorf("issues %+v", issues)
	}
	x.plan.Land = document.LandBranch
	if !skipLand(x) {
		t.Error("the change would land")
	}
}

func TestPlacesAndAnIncompleteSearchAreReported(t *testing.T) {
	t.Parallel()
	x := changed(t, map[string]string{"a.txt": "api_key\n"})
	x.change.leaks = scan.Leaks{Found: true, Places: []scan.Place{{Path: "a", What: "it is one", Action: "remove it"}}, Further: 40, Incomplete: errors.New("too late")}
	x.change.reportLeaks(&x.report.findings)
	issues := x.report.sorted()
	if len(issues) != 3 || issues[0].SuggestedAction != "remove it" || issues[1].Description != "40 further places hold or look like secrets" ||
		issues[2].Code != document.CodeScanIncomplete || !strings.Contains(issues[2].Description, "too late") {
		t.Errorf("issues %+v", issues)
	}
	x.plan.Land = document.LandBranch
	if !skipLand(x) {
		t.Error("the change would land")
	}
}
