package runner

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandboxrun/agents"
	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/change"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/internal/redact"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/state"
	"sandboxrun/sandbox/egress"
	"sandboxrun/schemas/closed"
)

const testSecret = "not-a-real-key-0123456789"

func testSecrets(t *testing.T) *redact.Redactor {
	t.Helper()
	return config.HostSecrets(config.Default(), func(name string) string {
		return map[string]string{"ANTHROPIC_API_KEY": " " + testSecret + "\n", "GITHUB_TOKEN": "short"}[name]
	})
}

// secretRun is a run with a journal and a key, and no box.
func secretRun(t *testing.T, key egress.KeyFunc) *run {
	t.Helper()
	state, err := state.Open(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	r := New(Options{State: state, Config: config.Default()})
	x, err := r.newRun(t.Context(), &plan.Plan{Agent: &plan.Agent{Provider: "anthropic"}}, &ready{key: key}, time.Now(), nil)
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
	x.record.Log.Pass("agent", agents.Event{Kind: "raw", Data: map[string]any{"text": "k " + testSecret + " " + x.boxes.token, testSecret: json.RawMessage(`"\u006eot-a-real-key-0123456789"`)}})
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
	if strings.Contains(got, "real-key") || strings.Contains(got, x.boxes.token) || strings.Count(got, "[redacted:anthropic-key]") != 4 || !strings.Contains(got, "[redacted:placeholder]") {
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

func TestALargeTextIsSearchedAsAWhole(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("0123456789 ", 9) + "\n"
	text := strings.Repeat(line, (3*scanPiece-300)/len(line)) // the token lies on the border of two pieces
	token := "gh" + "p_" + "w7Kd93nTqLx20VbYpRcE5uJfHs81ZaMgOi6N"
	text += token + "\n" + testSecret + "\n" + strings.Repeat(line, (9<<20)/len(line))
	before, _, _ := strings.Cut(text, token)
	at := strings.Count(before, "\n")
	x := changed(t, map[string]string{"big.txt": text})
	if err := x.change.writePatch(t.Context(), x.record.Dir.PatchPath(), x.scanPolicy(), &x.report.findings); err != nil {
		t.Fatal(err)
	}
	issues := x.report.sorted()
	if len(issues) != 2 || !strings.Contains(issues[0].Description, fmt.Sprintf("line %d looks like a secret (rule github-pat", at+1)) || !strings.Contains(issues[1].Description, "holds the value of") {
		t.Errorf("issues %+v, want line %d", issues, at+1)
	}
	if _, err := os.Stat(x.record.Dir.PatchPath()); !x.change.leaks.known || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("leaks %+v, patch: %v", x.change.leaks, err)
	}
}

// One NUL byte makes git take a text for binary. It hid the whole file from the
// rules, and a NUL inside of a value hid that from everything.
func TestANULByteHidesNoSecret(t *testing.T) {
	t.Parallel()
	token := "gh" + "p_" + "w7Kd93nTqLx20VbYpRcE5uJfHs81ZaMgOi6N"
	wide := func(text string) string { return strings.Join(strings.Split(text, ""), "\x00") + "\x00" }
	for name, tc := range map[string]struct {
		text string
		says string
	}{
		"before a token":           {"x\x00\n" + token + "\n", "line 2 looks like a secret (rule github-pat"},
		"before a known value":     {"x\x00\n" + testSecret + "\n", "holds the value of"},
		"within a token":           {"x\n" + token[:20] + "\x00" + token[20:] + "\n", "looks like a secret (rule github-pat"},
		"within a known value":     {"x\n" + testSecret[:9] + "\x00" + testSecret[9:] + "\n", "holds the value of"},
		"far behind, in a value":   {strings.Repeat("x\n", 5000) + testSecret[:9] + "\x00" + testSecret[9:] + "\n", "line 5001 holds the value of"},
		"far behind, behind NULs":  {strings.Repeat("x\n", 5000) + strings.Repeat("\x00\x00\x00\n", 100) + testSecret + "\n", "line 5101 holds the value of"},
		"a token in UTF-16":        {"\xff\xfe" + wide("x\n"+token+"\n"), "looks like a secret (rule github-pat"},
		"a known value in UTF-16":  {"\xff\xfe" + wide("x\n"+testSecret+"\n"), "holds the value of"},
		"UTF-16 without its mark":  {wide("x\n" + token + "\n"), "looks like a secret (rule github-pat"},
		"big-endian without marks": {"\x00" + wide("x\n" + token + "\n")[:2*len(token)+4], "looks like a secret (rule github-pat"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := changed(t, map[string]string{"a.txt": tc.text})
			if err := x.change.scan(t.Context(), x.scanPolicy(), &x.report.findings); err != nil {
				t.Fatal(err)
			}
			issues := x.report.sorted()
			if len(issues) != 1 || !strings.Contains(issues[0].Description, tc.says) || !x.change.leaks.found {
				t.Errorf("issues %+v, want one that says %q", issues, tc.says)
			}
		})
	}
}

func TestAChangeThatCannotBeSearchedInTimeDoesNotLand(t *testing.T) {
	t.Parallel()
	x := changed(t, map[string]string{"a.txt": "api_key\n"})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errScanBound)
	if err := x.change.scan(ctx, x.scanPolicy(), &x.report.findings); err != nil {
		t.Fatal(err)
	}
	if issues := x.report.sorted(); !x.change.leaks.found || len(issues) != 1 || issues[0].Code != document.CodeScanIncomplete {
		t.Errorf("leaks %+v, issues %+v", x.change.leaks, issues)
	}
	x.plan.Land = document.LandBranch
	if !skipLand(x) {
		t.Error("the change would land")
	}
}

func TestPlacesWithSecretsAreCountedBeyondTheirBound(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for range 300 {
		b.WriteString("- context\n" + testSecret + "\n")
	}
	files := map[string]string{}
	for i := range 3 * maxLeaks {
		files[strings.Repeat("d", i+1)] = b.String()
	}
	x := changed(t, files)
	if err := x.change.scan(t.Context(), x.scanPolicy(), &x.report.findings); err != nil {
		t.Fatal(err)
	}
	issues := x.report.sorted()
	if len(issues) != maxLeaks+1 || issues[maxLeaks].Description != "40 further places hold or look like secrets" {
		t.Errorf("%d issues, the last %+v", len(issues), issues[len(issues)-1])
	}
}
