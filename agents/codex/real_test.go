package codex_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/sandbox"
)

// newJob prepares a turn of the real Codex.
func newJob(t *testing.T, files map[string]string, steps ...modelserver.Step) *agentstest.Job {
	t.Helper()
	j := agentstest.NewJob(t, "codex", files, steps...)
	j.Turn.Model = "fake-model" // with which it offers exec_command
	return j
}

// execCommand is a command the model gives 250 ms before it goes on.
func execCommand(command string) modelserver.ToolUse {
	return modelserver.Tool("exec_command", map[string]any{"cmd": command, "yield_time_ms": 250})
}

// resultOf is the result of the call whose command is the one given.
func resultOf(j *agentstest.Job, command string) agents.ToolResult {
	j.T.Helper()
	for _, r := range agentstest.Of[agents.ToolResult](j.Host) {
		if r.Command == command {
			return r
		}
	}
	j.T.Errorf("no result of %q: %+v", command, agentstest.Of[agents.ToolResult](j.Host))
	return agents.ToolResult{}
}

func TestTellsTheModelWhyACallWasDenied(t *testing.T) {
	const reason = "not on a Friday"
	j := newJob(t, nil, agentstest.Uses(execCommand("touch a.txt")), modelserver.Step{Text: "I see.", Expect: reason})
	j.Host.Decide = func(context.Context, agents.ApprovalRequest) agents.Decision { return agents.Decision{Reason: reason} }
	o := j.MustRun()
	if o.End != agents.EndClean || o.Claim != "I see." || j.Exists("a.txt") {
		t.Errorf("outcome = %+v, want clean", o)
	}
	if r := resultOf(j, "touch a.txt"); r.Status != agents.StatusDenied || r.ExitCode != nil {
		t.Errorf("result = %+v, want denied", r)
	}
	if n := len(j.Server.Requests()); n != 2 {
		t.Errorf("the model was asked %d times, want 2: the reason comes with the result", n)
	}
	if f := j.Server.Failures(); len(f) > 0 {
		t.Error(f)
	}
	if q := j.Host.Asked[0]; q.Command != "touch a.txt" || q.Action != agents.ActionCommand || q.ToolID == "" {
		t.Errorf("asked %+v", q)
	}
}

func TestReportsWhatCommandsPrintAndReturn(t *testing.T) {
	j := newJob(t, nil, agentstest.Uses(execCommand(`echo "it's"; echo bad >&2; exit 3`), execCommand("true")), modelserver.Step{Text: "done"})
	j.MustRun()
	if r := resultOf(j, `echo "it's"; echo bad >&2; exit 3`); r.Status != agents.StatusError || r.ExitCode == nil || *r.ExitCode != 3 || !strings.Contains(r.Text, "it's\n") {
		t.Errorf("failing command = %+v", r)
	}
	if r := resultOf(j, "true"); r.Status != agents.StatusOK || r.ExitCode == nil || *r.ExitCode != 0 {
		t.Errorf("true = %+v", r)
	}
	if out := agentstest.Of[agents.CommandOutput](j.Host); len(out) != 1 || !strings.Contains(out[0].Text, "bad") {
		t.Errorf("output = %+v", out)
	}
}

func TestWaitsForACommandThatOutlivesTheTurn(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
		_, _ = w.Write([]byte("late"))
	}))
	t.Cleanup(server.Close)
	command := "curl -s --noproxy '*' " + server.URL
	j := newJob(t, nil, agentstest.Uses(execCommand(command)), modelserver.Step{Text: "it still runs"})
	j.Host.Watch = func(e agents.Event) {
		if m, ok := e.Data.(agents.Message); ok && e.Kind == agents.KindAssistantMessage && m.Text == "it still runs" {
			close(release)
		}
	}
	if o := j.MustRun(); o.End != agents.EndClean {
		t.Errorf("outcome = %+v", o)
	}
	if r := resultOf(j, command); r.Status != agents.StatusOK || r.Text != "late" {
		t.Errorf("result = %+v, want the late one", r)
	}
}

func TestEndsCommandsThatOutliveTheTurn(t *testing.T) {
	const command = "tail -f /workspace/left-behind"
	j := newJob(t, map[string]string{"left-behind": "x\n"}, agentstest.Uses(execCommand(command)), modelserver.Step{Text: "it still runs"})
	began := time.Now()
	if o := j.MustRun(); o.End != agents.EndClean || o.Claim != "it still runs" {
		t.Errorf("outcome = %+v", o)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the turn took %s", took)
	}
	if r := resultOf(j, command); r.Status != agents.StatusCancelled || r.ExitCode != nil {
		t.Errorf("result = %+v, want cancelled", r)
	}
	out, err := exec.Command("docker", "exec", j.Box.ID, "pgrep", "-f", "^tail -f").CombinedOutput()
	if err == nil {
		t.Errorf("processes of the command are left: %s", out)
	}
}

func TestKeepsItsKeyFromTheModelsShell(t *testing.T) {
	j := newJob(t, nil, agentstest.Uses(execCommand("env")), modelserver.Step{Text: "done"})
	j.Turn.Env = []string{"OPENAI_API_KEY=real", "OF_THE_PROFILE=yes"}
	j.MustRun()
	if r := resultOf(j, "env"); strings.Contains(r.Text, agentstest.Placeholder) || strings.Contains(r.Text, "OPENAI_API_KEY") || !strings.Contains(r.Text, "OF_THE_PROFILE=yes") {
		t.Errorf("the shell's environment: %s", r.Text)
	}
}

func TestLeavesItsTrustAsItWas(t *testing.T) {
	for _, mode := range []string{"workspace-write", "danger-full-access"} {
		t.Run(mode, func(t *testing.T) {
			j := newJob(t, map[string]string{
				".codex/config.toml":        "model = \"evil-model\"\n",
				".codex/rules/allow.rules":  "prefix_rule(pattern=[\"touch\"], decision=\"allow\")\n",
				".codex/skills/x/SKILL.md":  "---\nname: evil\ndescription: evil\n---\n",
				".agents/skills/y/SKILL.md": "---\nname: evil-too\ndescription: evil\n---\n",
			}, agentstest.Uses(execCommand("touch a.txt")), agentstest.Uses(execCommand("cat "+sandbox.Home+"/.codex/config.toml")), modelserver.Step{Text: "done"})
			j.Turn.Settings = agents.Settings{"sandbox": []byte(`"` + mode + `"`)}
			o := j.MustRun()
			if o.End != agents.EndClean || o.Model != "fake-model" {
				t.Errorf("outcome = %+v", o)
			}
			if len(j.Host.Asked) != 2 {
				t.Errorf("asked %d times, want for each command", len(j.Host.Asked))
			}
			if r := resultOf(j, "cat "+sandbox.Home+"/.codex/config.toml"); !strings.Contains(r.Text, "untrusted") || strings.Contains(strings.ReplaceAll(r.Text, "untrusted", ""), "trusted") {
				t.Errorf("configuration: %s", r.Text)
			}
		})
	}
}

func TestGivesUpAtAProviderNobodyReaches(t *testing.T) {
	j := newJob(t, nil)
	j.Turn.BaseURL = "http://127.0.0.1:9"
	began := time.Now()
	if o := j.MustRun(); o.End != agents.EndFailed || o.Code != "agent_failed" || o.Message == "" {
		t.Errorf("outcome = %+v", o)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("the turn took %s", took)
	}
}

func TestFailsToResumeAThreadThatIsNotThere(t *testing.T) {
	j := newJob(t, nil)
	j.Turn.Resume = true
	if o := j.MustRun(); o.End != agents.EndFailed || o.Code != "agent_failed" || !strings.Contains(o.Message, "no rollout found") {
		t.Errorf("outcome = %+v", o)
	}
}

func TestDoesNotStartWithSettingsItDoesNotKnow(t *testing.T) {
	j := newJob(t, nil)
	j.Turn.Args = []string{"-c", "no_such_key=1"}
	if o := j.MustRun(); o.End != agents.EndFailed || o.Code != "agent_crashed" || !strings.Contains(o.Message, "no_such_key") {
		t.Errorf("outcome = %+v", o)
	}
}

func TestTakesItsProfile(t *testing.T) {
	j := newJob(t, nil, modelserver.Step{Text: "done"})
	j.Turn.Settings = agents.Settings{
		"base_instructions": []byte(`"Speak like a pirate."`), "oss": []byte(`true`), "profile": []byte(`"mine"`),
		"model_reasoning_effort": []byte(`"low"`), "model_reasoning_summary": []byte(`"concise"`),
	}
	if o := j.MustRun(); o.End != agents.EndClean {
		t.Errorf("outcome = %+v", o)
	}
	notes := strings.Join(j.Host.Texts(agents.KindSystemMessage), "|")
	if !strings.Contains(notes, "oss is ignored") || !strings.Contains(notes, "profile is ignored") {
		t.Errorf("notes = %q", notes)
	}
}

func TestAsksForToolsOfMCPServers(t *testing.T) {
	for _, allow := range []bool{true, false} {
		t.Run(map[bool]string{true: "allowed", false: "denied"}[allow], func(t *testing.T) {
			j := newJob(t, map[string]string{"mini.mjs": agentstest.EchoServer},
				agentstest.Uses(modelserver.Tool("echo", map[string]string{"x": "<world>"})), modelserver.Step{Text: "done"})
			j.Turn.MCP = []agents.Server{
				{Name: "mini", Command: "node", Args: []string{sandbox.WorkDir + "/mini.mjs"}, Env: map[string]string{"GREETING": "hello"}},
				// One nobody answers at does not hold the turn up.
				{Name: "far", URL: "http://127.0.0.1:9/mcp", Headers: map[string]string{"X-Team": "a"}},
			}
			results := j.CallEcho("mcp__mini__echo", allow)
			want := agents.ToolResult{ID: j.Host.Asked[0].ToolID, Status: agents.StatusOK, Text: "hello <world>"}
			if !allow {
				want.Status, want.Text = agents.StatusDenied, "no echo"
			}
			if len(results) != 1 || results[0] != want {
				t.Errorf("results = %+v, want %+v", results, want)
			}
		})
	}
}

func TestAsksForCommandsInsideOfScripts(t *testing.T) {
	const script = `const r = await tools.exec_command({cmd: "touch a.txt"}); text("script: " + JSON.stringify(r));`
	for _, allow := range []bool{true, false} {
		t.Run(map[bool]string{true: "allowed", false: "denied"}[allow], func(t *testing.T) {
			j := newJob(t, nil, agentstest.Uses(modelserver.Tool("exec", script)), modelserver.Step{Text: "done"})
			j.Turn.Model = "" // its default writes scripts that call the tools
			j.Host.Decide = func(context.Context, agents.ApprovalRequest) agents.Decision {
				return agents.Decision{Allow: allow, Reason: "no files"}
			}
			if o := j.MustRun(); o.End != agents.EndClean || o.Model == "" || o.Unknown != 0 {
				t.Errorf("outcome = %+v %+v", o, j.Host.Raws())
			}
			if len(j.Host.Asked) != 1 || j.Exists("a.txt") != allow {
				t.Errorf("asked %+v, file there: %v", j.Host.Asked, j.Exists("a.txt"))
			}
			want := map[bool]string{true: agents.StatusOK, false: agents.StatusDenied}[allow]
			if r := resultOf(j, "touch a.txt"); r.Status != want {
				t.Errorf("result = %+v, want %s", r, want)
			}
		})
	}
}
