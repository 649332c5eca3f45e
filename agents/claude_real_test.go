package agents_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest/demo"
	"sandboxrun/agents/agentstest/modelserver"
	"sandboxrun/sandbox"
)

// placeholder is what the box gets instead of a key.
const placeholder = "sandboxrun-placeholder-1"

// session is one fixed session id; every test has a HOME of its own.
const session = "5f0c3a52-6d0e-4c7e-9a3f-1d2b8c4e7f60"

// job is one turn of the real CLI against the scripted server.
type job struct {
	t         *testing.T
	server    *modelserver.Server
	workspace string
	home      string
	host      *recorder
	turn      agents.Turn
}

// newJob prepares a turn over a workspace with files.
func newJob(t *testing.T, files map[string]string, steps ...modelserver.Step) *job {
	t.Helper()
	t.Parallel()
	server, err := modelserver.Start(modelserver.Scenario{Name: t.Name(), Steps: steps})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	j := &job{t: t, server: server, workspace: t.TempDir(), home: t.TempDir(), host: &recorder{}, turn: agents.Turn{
		Prompt: "do the work", SessionID: session, BaseURL: server.URL(), Token: placeholder,
	}}
	for name, text := range files {
		path := filepath.Join(j.workspace, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

// run takes the turn in a box of its own.
func (j *job) run(ctx context.Context) (agents.Outcome, error) {
	j.t.Helper()
	claude, ok := agents.Lookup("claude")
	if !ok {
		j.t.Fatal("claude is not registered")
	}
	return claude.Run(ctx, openBox(j.t, j.workspace, j.home), j.turn, j.host)
}

// mustRun takes the turn and fails the test on an error.
func (j *job) mustRun() agents.Outcome {
	j.t.Helper()
	o, err := j.run(j.t.Context())
	if err != nil {
		j.t.Fatalf("run: %v (%+v)", err, o)
	}
	return o
}

func bash(command string) modelserver.ToolUse {
	return modelserver.Tool("Bash", map[string]string{"command": command, "description": "run it"})
}

func write(path, content string) modelserver.ToolUse {
	return modelserver.Tool("Write", map[string]string{"file_path": sandbox.WorkDir + "/" + path, "content": content})
}

func (j *job) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(j.workspace, name))
	return err == nil
}

func TestClaudeDoesTheDemoJob(t *testing.T) {
	scenario, err := demo.Scenario()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	err = fs.WalkDir(demo.Files(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(demo.Files(), path)
		files[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	j := newJob(t, files, scenario.Steps...)
	j.turn.Prompt = demo.Instructions
	o := j.mustRun()

	pinned := agents.All()[0].Info().Version
	if o.End != agents.EndClean || o.Code != "" || o.Version != pinned || o.SessionID != session || o.Model == "" || o.Unknown != 0 {
		t.Errorf("outcome = %+v, want clean with version %s and session %s", o, pinned, session)
	}
	if !strings.HasPrefix(o.Claim, "total.sh adds") {
		t.Errorf("claim = %q", o.Claim)
	}
	if o.Usage.InputTokens != 600 || o.Usage.OutputTokens != 120 {
		t.Errorf("usage = %+v, want the sum of six answers", o.Usage)
	}
	if got, err := os.ReadFile(filepath.Join(j.workspace, "src/total.sh")); err != nil || !strings.Contains(string(got), "sum + number") {
		t.Errorf("total.sh = %q, %v", got, err)
	}
	if !j.exists("CHANGELOG.md") || j.exists("BUGS.md") {
		t.Error("want CHANGELOG.md added and BUGS.md deleted")
	}

	results := j.host.results(t)
	for _, call := range []string{"Read /workspace/src/total.sh", "Edit /workspace/src/total.sh", "Write /workspace/CHANGELOG.md", "Bash rm BUGS.md", "Bash sh test.sh"} {
		if results[call].Status != agents.StatusOK {
			t.Errorf("result of %q = %+v, want ok", call, results[call])
		}
	}
	test := results["Bash sh test.sh"]
	if test.ExitCode == nil || *test.ExitCode != 0 || test.Command != "sh test.sh" || !strings.Contains(test.Text, "ok: total of '1 2 3' is 6") {
		t.Errorf("result of the test = %+v", test)
	}
	var printed string
	for _, out := range of[agents.CommandOutput](j.host) {
		printed += out.Text
	}
	if !strings.Contains(printed, "ok: total of '42 -2' is 40") {
		t.Errorf("command output = %q", printed)
	}
	if got := j.host.texts(agents.KindThinking); len(got) != 1 {
		t.Errorf("thinking = %q, want one", got)
	}
	for _, r := range j.server.Requests() {
		if r.Key != placeholder {
			t.Errorf("%s %s came with key %q", r.Method, r.Path, r.Key)
		}
	}
	if left := j.server.Remaining(); left != 0 {
		t.Errorf("%d steps were not asked for", left)
	}
}

func TestClaudeTellsTheModelWhyACallWasDenied(t *testing.T) {
	j := newJob(t, nil,
		modelserver.Step{Tools: []modelserver.ToolUse{write("a.txt", "a"), bash("rm -f b.txt")}},
		modelserver.Step{Text: "I could not."})
	j.host.decide = func(_ context.Context, r agents.ApprovalRequest) agents.Decision {
		return agents.Decision{Allow: r.Action == agents.ActionCommand, Reason: "edits are not wanted here"}
	}
	o := j.mustRun()
	if o.End != agents.EndClean {
		t.Errorf("outcome = %+v, want clean: the model was told and went on", o)
	}
	results := j.host.results(t)
	if got := results["Write /workspace/a.txt"]; got.Status != agents.StatusDenied || got.Text != "edits are not wanted here" {
		t.Errorf("result of the write = %+v", got)
	}
	if got := results["Bash rm -f b.txt"]; got.Status != agents.StatusOK {
		t.Errorf("result of the command = %+v", got)
	}
	if j.exists("a.txt") {
		t.Error("the denied file was written")
	}
	last := j.server.Requests()[len(j.server.Requests())-1]
	if !slices.ContainsFunc(last.Results, func(r modelserver.Result) bool { return r.IsError && r.Text == "edits are not wanted here" }) {
		t.Errorf("the model was told %+v", last.Results)
	}
}

func TestClaudeReportsExitCodesOfCommands(t *testing.T) {
	j := newJob(t, map[string]string{"a.txt": "a\n"},
		modelserver.Step{Tools: []modelserver.ToolUse{bash("echo seen; exit 3"), bash("grep zz a.txt"), bash("true")}},
		modelserver.Step{Text: "done"})
	j.mustRun()
	results := j.host.results(t)
	if r := results["Bash echo seen; exit 3"]; r.Status != agents.StatusError || r.ExitCode == nil || *r.ExitCode != 3 {
		t.Errorf("failing command = %+v, want an error with exit code 3", r)
	}
	if r := results["Bash grep zz a.txt"]; r.Status != agents.StatusOK || r.ExitCode != nil {
		t.Errorf("grep without a match = %+v, want no exit code: the CLI does not say it", r)
	}
	if r := results["Bash true"]; r.ExitCode == nil || *r.ExitCode != 0 {
		t.Errorf("true = %+v, want exit code 0", r)
	}
}

func TestClaudeResumesInANewBox(t *testing.T) {
	j := newJob(t, nil, modelserver.Step{Text: "The word is marmalade."}, modelserver.Step{Text: "It was marmalade."})
	if o := j.mustRun(); o.End != agents.EndClean {
		t.Fatalf("first turn: %+v", o)
	}
	j.turn.Resume, j.turn.Prompt = true, "which word was it?"
	o := j.mustRun()
	if o.End != agents.EndClean || o.SessionID != session || o.Claim != "It was marmalade." {
		t.Errorf("second turn: %+v", o)
	}
	requests := j.server.Requests()
	if first, last := requests[0].Messages, requests[len(requests)-1].Messages; last <= first {
		t.Errorf("the second turn sent %d messages after %d: no history", last, first)
	}
}

func TestClaudeStopsInMidCommandWhenTheContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	stop := errors.New("time is up")
	// The command itself says that it runs.
	running := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { cancel(stop) }))
	t.Cleanup(running.Close)
	command := "curl -s " + running.URL + "; tail -f /dev/null"
	j := newJob(t, nil, modelserver.Step{Tools: []modelserver.ToolUse{bash(command)}}, modelserver.Step{Text: "done"})
	start := time.Now()
	o, err := j.run(ctx)
	if !errors.Is(err, stop) {
		t.Errorf("error = %v, want the context's cause", err)
	}
	if o.End != agents.EndInterrupted {
		t.Errorf("outcome = %+v, want interrupted", o)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("stopping took %s", took)
	}
	if r := j.host.results(t)["Bash "+command]; r.Status != agents.StatusCancelled {
		t.Errorf("result of the stopped command = %+v, want cancelled", r)
	}
}
