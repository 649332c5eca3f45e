package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/internal/testenv"
	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
	"sandboxrun/schemas/closed"
)

// mending is the script of the model: it edits, adds, deletes and runs.
func mending() modelserver.Scenario {
	return modelserver.Scenario{Name: "mend", Steps: []modelserver.Step{
		{Text: "I look first.", Tools: []modelserver.ToolUse{modelserver.Tool("Read", map[string]any{"file_path": "/workspace/sum.sh"})}},
		{Tools: []modelserver.ToolUse{modelserver.Tool("Edit", map[string]any{"file_path": "/workspace/sum.sh", "old_string": "$1 - $2", "new_string": "$1 + $2"})}},
		{Tools: []modelserver.ToolUse{modelserver.Tool("Write", map[string]any{"file_path": "/workspace/NOTES.md", "content": "# Notes\n\nmended\n"})}},
		{Tools: []modelserver.ToolUse{modelserver.Tool("Bash", map[string]any{"command": "rm old.txt && sh test.sh && echo tests are green", "description": "test"})}},
		{Text: "All done; every test in the world passes."},
	}}
}

func agentTask(r *repo) map[string]any {
	return map[string]any{
		"objective": "Mend sum.sh.", "context": map[string]any{"repo_root": r.dir},
		"instructions": "Make test.sh pass.", "max_runtime_seconds": 150,
		"acceptance_criteria": []any{map[string]any{"command": "sh test.sh"}},
	}
}

func eventKinds(t *testing.T, r *rig, run string) map[string]int {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(r.state, "runs", run, "events.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	var seq int64
	for line := range strings.SplitSeq(strings.TrimSpace(string(body)), "\n") {
		var e journal.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("event %q: %v", line, err)
		}
		if err := closed.Validate("event", []byte(line)); err != nil {
			t.Errorf("event breaks its schema: %v\n%s", err, line)
		}
		if seq++; e.Seq != seq {
			t.Fatalf("event %d follows event %d", e.Seq, seq-1)
		}
		kinds[e.Kind]++
	}
	return kinds
}

// assertKeyNowhere searches everything the program wrote for the real key.
func assertKeyNowhere(t *testing.T, r *rig, o outcome) {
	t.Helper()
	if strings.Contains(string(o.stdout), realKey) || strings.Contains(string(o.stderr), realKey) {
		t.Error("the key is in the program's output")
	}
	err := filepath.WalkDir(r.state, func(p string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		body, err := os.ReadFile(p)
		if err == nil && strings.Contains(string(body), realKey) {
			t.Errorf("the key is in %s", p)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestMixedModeRunsTheCommandsAfterTheAgent(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.model(mending())
	task := agentTask(repo)
	task["execution_mode"], task["suggested_commands"] = "mixed", []string{"cp NOTES.md COPY.md"}
	res, o := rig.execute(task)
	if o.exit != 0 || len(res.FilesChanged) != 4 {
		t.Errorf("exit %d, files %+v, issues %+v", o.exit, res.FilesChanged, res.Issues)
	}
}

func TestDenyPolicyKeepsTheAgentFromActing(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.model(mending())
	res, o := rig.execute(agentTask(repo), "--approve", "deny")
	if o.exit == 0 || len(res.FilesChanged) != 0 || !hasCode(res, "approval_denied") {
		t.Errorf("exit %d, files %+v, codes %v", o.exit, res.FilesChanged, codes(res))
	}
}

func TestModelServerFailuresHaveTheirCode(t *testing.T) {
	t.Parallel()
	fault := func(status int, kind string) modelserver.Step {
		return modelserver.Step{Fault: &modelserver.Fault{Status: status, Type: kind, Message: "scripted"}, Times: -1}
	}
	// Other tests check, for every agent and without a whole run, that failures of a provider are distinguished.
	for _, c := range testenv.Sample(t, []struct {
		name    string
		steps   []modelserver.Step
		seconds int
		code    string
		exit    int
	}{
		{"401", []modelserver.Step{fault(401, "authentication_error")}, 90, "agent_auth", 4},
		{"429 without end", []modelserver.Step{fault(429, "rate_limit_error")}, 120, "agent_quota", 4},
		{"silent to the limit", []modelserver.Step{{Silent: true, Times: -1}}, 10, "runtime_limit", 6},
		{"500 without end", []modelserver.Step{fault(500, "api_error")}, 120, "agent_failed", 4},
		{"cut without end", []modelserver.Step{{Text: "this will be cut", Cut: true, Times: -1}}, 120, "agent_failed", 4},
	}, 2) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rig, repo := newRig(t), newRepo(t, sample)
			rig.model(modelserver.Scenario{Name: c.name, Steps: c.steps})
			task := agentTask(repo)
			task["max_runtime_seconds"] = c.seconds
			res, o := rig.execute(task)
			if o.exit != c.exit || !hasCode(res, c.code) || res.Status != document.StatusFailed {
				t.Errorf("exit %d, %s, issues %+v", o.exit, res.Status, res.Issues)
			}
		})
	}
}

func TestTransientRateLimitDoesNotFailTheRun(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	s := mending()
	s.Steps = append([]modelserver.Step{{Fault: &modelserver.Fault{Status: 429, Type: "rate_limit_error", Message: "later", RetryAfter: 1}}}, s.Steps...)
	rig.model(s)
	if res, o := rig.execute(agentTask(repo)); o.exit != 0 {
		t.Errorf("exit %d, issues %+v", o.exit, res.Issues)
	}
}

func TestStandardErrorOfTheAgentIsALog(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	task := agentTask(repo)
	task["agent"] = map[string]any{"name": `acp:sh -c 'echo cannot find my own settings >&2; exit 3'`, "provider": "anthropic"}
	res, o := rig.execute(task)
	if o.exit != 4 {
		t.Errorf("exit %d, issues %+v", o.exit, res.Issues)
	}
	for _, name := range res.Logs {
		if filepath.Base(name) != "agent.stderr.log" {
			continue
		}
		if text, err := os.ReadFile(name); err != nil || string(text) != "cannot find my own settings\n" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		return
	}
	t.Errorf("no log of the agent's standard error in %v", res.Logs)
}
