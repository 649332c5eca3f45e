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

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/runner/redact"
	"sandboxrun/sandbox/egress"
)

const testSecret = "not-a-real-key-0123456789"

func testSecrets(t *testing.T) *redact.Redactor {
	t.Helper()
	return HostSecrets(DefaultConfig(), func(name string) string {
		return map[string]string{"ANTHROPIC_API_KEY": " " + testSecret + "\n", "GITHUB_TOKEN": "short"}[name]
	})
}

// secretRun is a run with a journal and a key, and no box.
func secretRun(t *testing.T, key egress.KeyFunc) *run {
	t.Helper()
	state, err := OpenState(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := state.NewRun()
	if err != nil {
		t.Fatal(err)
	}
	x := &run{ready: &ready{key: key}, r: New(Options{State: state, Config: DefaultConfig()}), dir: dir, id: dir.ID(), token: egress.NewToken(),
		plan: &Plan{Agent: &AgentPlan{Provider: "anthropic"}}, timing: map[string]int64{}}
	if err := x.openJournals(nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(x.closeJournals(), dir.unlock()); err != nil {
			t.Error(err)
		}
	})
	x.learnSecrets(t.Context())
	return x
}

func journal(t *testing.T, x *run) string {
	t.Helper()
	text, err := os.ReadFile(x.dir.EventsPath())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAKeyIsKnownBeforeItsFirstRequestAndAfterItWasRenewed(t *testing.T) {
	t.Parallel()
	current := testSecret
	x := secretRun(t, func(context.Context) (egress.Credential, error) { return egress.CredentialOf(current), nil })
	x.tellUnhidden()
	x.log.emit("agent", EventSystemMessage, map[string]any{"text": "k " + testSecret + " " + x.token, testSecret: json.RawMessage(`"\u006eot-a-real-key-0123456789"`)})
	current = "renewed-" + testSecret[:12]
	if _, err := x.key(t.Context()); err != nil {
		t.Fatal(err)
	}
	x.log.emit("agent", EventSystemMessage, map[string]any{"text": base64.StdEncoding.EncodeToString([]byte(current))})
	got := journal(t, x)
	for line := range strings.SplitSeq(strings.TrimSpace(got), "\n") {
		if err := ValidateDocument("event", []byte(line)); err != nil {
			t.Errorf("%v: %s", err, line)
		}
	}
	if strings.Contains(got, "real-key") || strings.Contains(got, x.token) || strings.Count(got, "[redacted:anthropic-key]") != 4 || !strings.Contains(got, "[redacted:placeholder]") {
		t.Errorf("journal:\n%s", got)
	}
}

func TestAKeyTooPlainToBeHiddenIsTold(t *testing.T) {
	t.Parallel()
	x := secretRun(t, egress.StaticKey("dummy"))
	x.tellUnhidden()
	x.log.emit("agent", EventSystemMessage, map[string]any{"text": "a dummy"})
	if got := journal(t, x); !strings.Contains(got, "the key of provider anthropic is not kept out of logs and results") || !strings.Contains(got, "a dummy") {
		t.Errorf("journal:\n%s", got)
	}
}

func TestAResultIsTheSameButForItsSecrets(t *testing.T) {
	t.Parallel()
	three := 3
	res := &Result{RunID: "r", Status: StatusPartial, StartedAt: time.Now().UTC(), Timing: map[string]int64{"total": 5}, Logs: []string{},
		CommandsRun: []CommandRun{{Command: "echo " + testSecret, ExitCode: &three}}, Agent: &AgentResult{Claim: "it is " + testSecret},
		FilesChanged: []FileChange{{Path: "dir/" + testSecret, Highlights: []string{}}}}
	got := clean(testSecrets(t), res)
	if got.CommandsRun[0].Command != "echo [redacted:ANTHROPIC_API_KEY]" || got.Agent.Claim != "it is [redacted:ANTHROPIC_API_KEY]" ||
		got.FilesChanged[0].Path != "dir/[redacted:ANTHROPIC_API_KEY]" || *got.CommandsRun[0].ExitCode != 3 || !got.StartedAt.Equal(res.StartedAt) {
		t.Errorf("result %+v", got)
	}
	if same := clean(testSecrets(t), got); same != got {
		t.Error("a result without secrets was made anew")
	}
}

func TestALogAndItsExcerptHoldNoSecretHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	for _, pad := range []int{0, excerptHead - 10, excerptHead + excerptTail + 100} { // across the end of the head, and in the tail
		path := filepath.Join(t.TempDir(), "log")
		s, err := NewSpool(path, maxLog)
		if err != nil {
			t.Fatal(err)
		}
		s.secrets = testSecrets(t).Stream()
		for _, piece := range []string{strings.Repeat("x", pad), testSecret[:9], testSecret[9:], "\n"} {
			if n, err := s.Write([]byte(piece)); n != len(piece) || err != nil {
				t.Fatalf("wrote %d: %v", n, err)
			}
		}
		if _, err := s.Write([]byte(testSecret[:5])); err != nil { // held back, and not lost
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Repeat("x", pad) + "[redacted:ANTHROPIC_API_KEY]\nnot-a"
		if string(text) != want || s.Bytes() != int64(len(want)) || strings.Contains(s.Excerpt(), "key-0123") || !strings.HasSuffix(s.Excerpt(), "\nnot-a") {
			t.Errorf("pad %d: log %.50q…, %d bytes, excerpt …%q", pad, text, s.Bytes(), s.Excerpt()[max(0, len(s.Excerpt())-60):])
		}
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
	if x.diff, err = objects.Diff(t.Context(), before, r.Git("rev-parse", "HEAD^{tree}")); err != nil {
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
	if err := x.writePatch(t.Context()); err != nil {
		t.Fatal(err)
	}
	issues := x.findings.sorted()
	if len(issues) != 2 || !strings.Contains(issues[0].Description, fmt.Sprintf("line %d looks like a secret (rule github-pat", at+1)) || !strings.Contains(issues[1].Description, "holds the value of") {
		t.Errorf("issues %+v, want line %d", issues, at+1)
	}
	if _, err := os.Stat(x.dir.PatchPath()); !x.leaks.known || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("leaks %+v, patch: %v", x.leaks, err)
	}
}

func TestAChangeThatCannotBeSearchedInTimeDoesNotLand(t *testing.T) {
	t.Parallel()
	x := changed(t, map[string]string{"a.txt": "api_key\n"})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errScanBound)
	if err := x.scan(ctx); err != nil {
		t.Fatal(err)
	}
	if issues := x.findings.sorted(); !x.leaks.found || len(issues) != 1 || issues[0].Code != CodeScanIncomplete {
		t.Errorf("leaks %+v, issues %+v", x.leaks, issues)
	}
	x.plan.Land = LandBranch
	if !x.unlandable() {
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
	if err := x.scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	issues := x.findings.sorted()
	if len(issues) != maxLeaks+1 || issues[maxLeaks].Description != "40 further places hold or look like secrets" {
		t.Errorf("%d issues, the last %+v", len(issues), issues[len(issues)-1])
	}
}
