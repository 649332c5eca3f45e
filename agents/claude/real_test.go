package claude_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
	"sandboxrun/agents/scripted/demo"
	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/sandbox"
)

func bash(command string) modelserver.ToolUse {
	return modelserver.Tool("Bash", map[string]string{"command": command, "description": "run it"})
}

func write(path, content string) modelserver.ToolUse {
	return modelserver.Tool("Write", map[string]string{"file_path": sandbox.WorkDir + "/" + path, "content": content})
}

func TestDoesTheDemoJob(t *testing.T) {
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
	j.Turn.Prompt = demo.Instructions
	o := j.MustRun()

	pinned := j.Agent.Info().Version
	if o.End != agents.EndClean || o.Code != "" || o.Version != pinned || o.SessionID != agentstest.Session || o.Model == "" || o.Unknown != 0 {
		t.Errorf("outcome = %+v, want clean with version %s and session %s", o, pinned, agentstest.Session)
	}
	if !strings.HasPrefix(o.Claim, "total.sh adds") {
		t.Errorf("claim = %q", o.Claim)
	}
	if o.Usage.InputTokens != 600 || o.Usage.OutputTokens != 120 {
		t.Errorf("usage = %+v, want the sum of six answers", o.Usage)
	}
	if got, err := os.ReadFile(filepath.Join(j.Workspace, "src/total.sh")); err != nil || !strings.Contains(string(got), "sum + number") {
		t.Errorf("total.sh = %q, %v", got, err)
	}
	if !j.Exists("CHANGELOG.md") || j.Exists("BUGS.md") {
		t.Error("want CHANGELOG.md added and BUGS.md deleted")
	}

	results := j.Host.Results(t)
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
	for _, out := range agentstest.Of[agents.CommandOutput](j.Host) {
		printed += out.Text
	}
	if !strings.Contains(printed, "ok: total of '42 -2' is 40") {
		t.Errorf("command output = %q", printed)
	}
	if got := j.Host.Texts(agents.KindThinking); len(got) != 1 {
		t.Errorf("thinking = %q, want one", got)
	}
	for _, r := range j.Server.Requests() {
		if r.Key != agentstest.Placeholder {
			t.Errorf("%s %s came with key %q", r.Method, r.Path, r.Key)
		}
	}
	if left := j.Server.Remaining(); left != 0 {
		t.Errorf("%d steps were not asked for", left)
	}
}

func TestReportsExitCodesOfCommands(t *testing.T) {
	j := newJob(t, map[string]string{"a.txt": "a\n"},
		modelserver.Step{Tools: []modelserver.ToolUse{bash("echo seen; exit 3"), bash("grep zz a.txt"), bash("true")}},
		modelserver.Step{Text: "done"})
	j.MustRun()
	results := j.Host.Results(t)
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
