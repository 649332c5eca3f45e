package agents_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest/modelserver"
	"sandboxrun/sandbox"
)

// newCodexJob prepares a turn of the real Codex.
func newCodexJob(t *testing.T, files map[string]string, steps ...modelserver.Step) *job {
	t.Helper()
	j := newJobOf(t, "codex", files, steps...)
	j.turn.Model = "fake-model" // with which it offers exec_command
	return j
}

// codexRun is a command the model gives 250 ms before it goes on.
func codexRun(command string) modelserver.ToolUse {
	return modelserver.Tool("exec_command", map[string]any{"cmd": command, "yield_time_ms": 250})
}

// codexResult is the result of the call whose command is the one given.
func (j *job) codexResult(command string) agents.ToolResult {
	j.t.Helper()
	for _, r := range of[agents.ToolResult](j.host) {
		if r.Command == command {
			return r
		}
	}
	j.t.Errorf("no result of %q: %+v", command, of[agents.ToolResult](j.host))
	return agents.ToolResult{}
}

func TestCodexTellsTheModelWhyACallWasDenied(t *testing.T) {
	const reason = "not on a Friday"
	j := newCodexJob(t, nil, uses(codexRun("touch a.txt")), modelserver.Step{Text: "I see.", Expect: reason})
	j.host.decide = func(context.Context, agents.ApprovalRequest) agents.Decision { return agents.Decision{Reason: reason} }
	o := j.mustRun()
	if o.End != agents.EndClean || o.Claim != "I see." || j.exists("a.txt") {
		t.Errorf("outcome = %+v, want clean", o)
	}
	if r := j.codexResult("touch a.txt"); r.Status != agents.StatusDenied || r.ExitCode != nil {
		t.Errorf("result = %+v, want denied", r)
	}
	if n := len(j.server.Requests()); n != 2 {
		t.Errorf("the model was asked %d times, want 2: the reason comes with the result", n)
	}
	if f := j.server.Failures(); len(f) > 0 {
		t.Error(f)
	}
	if q := j.host.asked[0]; q.Command != "touch a.txt" || q.Action != agents.ActionCommand || q.ToolID == "" {
		t.Errorf("asked %+v", q)
	}
}

func TestCodexReportsWhatCommandsPrintAndReturn(t *testing.T) {
	j := newCodexJob(t, nil, uses(codexRun(`echo "it's"; echo bad >&2; exit 3`), codexRun("true")), modelserver.Step{Text: "done"})
	j.mustRun()
	if r := j.codexResult(`echo "it's"; echo bad >&2; exit 3`); r.Status != agents.StatusError || r.ExitCode == nil || *r.ExitCode != 3 || !strings.Contains(r.Text, "it's\n") {
		t.Errorf("failing command = %+v", r)
	}
	if r := j.codexResult("true"); r.Status != agents.StatusOK || r.ExitCode == nil || *r.ExitCode != 0 {
		t.Errorf("true = %+v", r)
	}
	if out := of[agents.CommandOutput](j.host); len(out) != 1 || !strings.Contains(out[0].Text, "bad") {
		t.Errorf("output = %+v", out)
	}
}

func TestCodexWaitsForACommandThatOutlivesTheTurn(t *testing.T) {
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
	j := newCodexJob(t, nil, uses(codexRun(command)), modelserver.Step{Text: "it still runs"})
	j.host.watch = func(e agents.Event) {
		if m, ok := e.Data.(agents.Message); ok && e.Kind == agents.KindAssistantMessage && m.Text == "it still runs" {
			close(release)
		}
	}
	if o := j.mustRun(); o.End != agents.EndClean {
		t.Errorf("outcome = %+v", o)
	}
	if r := j.codexResult(command); r.Status != agents.StatusOK || r.Text != "late" {
		t.Errorf("result = %+v, want the late one", r)
	}
}

func TestCodexEndsCommandsThatOutliveTheTurn(t *testing.T) {
	const command = "tail -f /workspace/left-behind"
	j := newCodexJob(t, map[string]string{"left-behind": "x\n"}, uses(codexRun(command)), modelserver.Step{Text: "it still runs"})
	began := time.Now()
	if o := j.mustRun(); o.End != agents.EndClean || o.Claim != "it still runs" {
		t.Errorf("outcome = %+v", o)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the turn took %s", took)
	}
	if r := j.codexResult(command); r.Status != agents.StatusCancelled || r.ExitCode != nil {
		t.Errorf("result = %+v, want cancelled", r)
	}
	out, err := exec.Command("docker", "exec", j.box.id, "pgrep", "-f", "^tail -f").CombinedOutput()
	if err == nil {
		t.Errorf("processes of the command are left: %s", out)
	}
}

func TestCodexKeepsItsKeyFromTheModelsShell(t *testing.T) {
	j := newCodexJob(t, nil, uses(codexRun("env")), modelserver.Step{Text: "done"})
	j.turn.Env = []string{"OPENAI_API_KEY=real", "OF_THE_PROFILE=yes"}
	j.mustRun()
	if r := j.codexResult("env"); strings.Contains(r.Text, placeholder) || strings.Contains(r.Text, "OPENAI_API_KEY") || !strings.Contains(r.Text, "OF_THE_PROFILE=yes") {
		t.Errorf("the shell's environment: %s", r.Text)
	}
}

func TestCodexLeavesItsTrustAsItWas(t *testing.T) {
	for _, mode := range []string{"workspace-write", "danger-full-access"} {
		t.Run(mode, func(t *testing.T) {
			j := newCodexJob(t, map[string]string{
				".codex/config.toml":        "model = \"evil-model\"\n",
				".codex/rules/allow.rules":  "prefix_rule(pattern=[\"touch\"], decision=\"allow\")\n",
				".codex/skills/x/SKILL.md":  "---\nname: evil\ndescription: evil\n---\n",
				".agents/skills/y/SKILL.md": "---\nname: evil-too\ndescription: evil\n---\n",
			}, uses(codexRun("touch a.txt")), uses(codexRun("cat "+sandbox.Home+"/.codex/config.toml")), modelserver.Step{Text: "done"})
			j.turn.Settings = agents.Settings{"sandbox": []byte(`"` + mode + `"`)}
			o := j.mustRun()
			if o.End != agents.EndClean || o.Model != "fake-model" {
				t.Errorf("outcome = %+v", o)
			}
			if len(j.host.asked) != 2 {
				t.Errorf("asked %d times, want for each command", len(j.host.asked))
			}
			if r := j.codexResult("cat " + sandbox.Home + "/.codex/config.toml"); !strings.Contains(r.Text, "untrusted") || strings.Contains(strings.ReplaceAll(r.Text, "untrusted", ""), "trusted") {
				t.Errorf("configuration: %s", r.Text)
			}
		})
	}
}

func TestCodexGivesUpAtAProviderNobodyReaches(t *testing.T) {
	j := newCodexJob(t, nil)
	j.turn.BaseURL = "http://127.0.0.1:9"
	began := time.Now()
	if o := j.mustRun(); o.End != agents.EndFailed || o.Code != "agent_failed" || o.Message == "" {
		t.Errorf("outcome = %+v", o)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("the turn took %s", took)
	}
}

func TestCodexFailsToResumeAThreadThatIsNotThere(t *testing.T) {
	j := newCodexJob(t, nil)
	j.turn.Resume = true
	if o := j.mustRun(); o.End != agents.EndFailed || o.Code != "agent_failed" || !strings.Contains(o.Message, "no rollout found") {
		t.Errorf("outcome = %+v", o)
	}
}

func TestCodexDoesNotStartWithSettingsItDoesNotKnow(t *testing.T) {
	j := newCodexJob(t, nil)
	j.turn.Args = []string{"-c", "no_such_key=1"}
	if o := j.mustRun(); o.End != agents.EndFailed || o.Code != "agent_crashed" || !strings.Contains(o.Message, "no_such_key") {
		t.Errorf("outcome = %+v", o)
	}
}

func TestCodexTakesItsProfile(t *testing.T) {
	j := newCodexJob(t, nil, modelserver.Step{Text: "done"})
	j.turn.Settings = agents.Settings{
		"base_instructions": []byte(`"Speak like a pirate."`), "oss": []byte(`true`), "profile": []byte(`"mine"`),
		"model_reasoning_effort": []byte(`"low"`), "model_reasoning_summary": []byte(`"concise"`),
	}
	if o := j.mustRun(); o.End != agents.EndClean {
		t.Errorf("outcome = %+v", o)
	}
	notes := strings.Join(j.host.texts(agents.KindSystemMessage), "|")
	if !strings.Contains(notes, "oss is ignored") || !strings.Contains(notes, "profile is ignored") {
		t.Errorf("notes = %q", notes)
	}
}

// codexMini is an MCP server with one tool.
const codexMini = `import readline from "node:readline";
const say = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
for await (const line of readline.createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "mini", version: "1" } });
  else if (method === "tools/list") say(id, { tools: [{ name: "echo", description: "echo", inputSchema: { type: "object", properties: { x: { type: "string" } } } }] });
  else if (method === "tools/call") say(id, { content: [{ type: "text", text: process.env.GREETING + " " + params.arguments.x }] });
  else if (id !== undefined) say(id, {});
}
`

func TestCodexAsksForToolsOfMCPServers(t *testing.T) {
	for _, allow := range []bool{true, false} {
		t.Run(map[bool]string{true: "allowed", false: "denied"}[allow], func(t *testing.T) {
			j := newCodexJob(t, map[string]string{"mini.mjs": codexMini},
				uses(modelserver.Tool("echo", map[string]string{"x": "<world>"})), modelserver.Step{Text: "done"})
			j.turn.MCP = []agents.Server{
				{Name: "mini", Command: "node", Args: []string{sandbox.WorkDir + "/mini.mjs"}, Env: map[string]string{"GREETING": "hello"}},
				// One nobody answers at does not hold the turn up.
				{Name: "far", URL: "http://127.0.0.1:9/mcp", Headers: map[string]string{"X-Team": "a"}},
			}
			j.host.decide = func(context.Context, agents.ApprovalRequest) agents.Decision {
				return agents.Decision{Allow: allow, Reason: "no echo"}
			}
			if o := j.mustRun(); o.End != agents.EndClean || o.Unknown != 0 {
				t.Errorf("outcome = %+v %+v", o, j.host.raws())
			}
			if len(j.host.asked) != 1 {
				t.Fatalf("asked %+v", j.host.asked)
			}
			if q := j.host.asked[0]; q.Tool != "mcp__mini__echo" || q.Action != agents.ActionMCP || string(q.Input) != `{"x":"<world>"}` || q.ToolID == "" {
				t.Errorf("asked %+v with %s", q, q.Input)
			}
			results := of[agents.ToolResult](j.host)
			want := agents.ToolResult{ID: j.host.asked[0].ToolID, Status: agents.StatusOK, Text: "hello <world>"}
			if !allow {
				want.Status, want.Text = agents.StatusDenied, "no echo"
			}
			if len(results) != 1 || results[0] != want {
				t.Errorf("results = %+v, want %+v", results, want)
			}
		})
	}
}

func TestCodexAsksForCommandsInsideOfScripts(t *testing.T) {
	const script = `const r = await tools.exec_command({cmd: "touch a.txt"}); text("script: " + JSON.stringify(r));`
	for _, allow := range []bool{true, false} {
		t.Run(map[bool]string{true: "allowed", false: "denied"}[allow], func(t *testing.T) {
			j := newCodexJob(t, nil, uses(modelserver.Tool("exec", script)), modelserver.Step{Text: "done"})
			j.turn.Model = "" // its default writes scripts that call the tools
			j.host.decide = func(context.Context, agents.ApprovalRequest) agents.Decision {
				return agents.Decision{Allow: allow, Reason: "no files"}
			}
			if o := j.mustRun(); o.End != agents.EndClean || o.Model == "" || o.Unknown != 0 {
				t.Errorf("outcome = %+v %+v", o, j.host.raws())
			}
			if len(j.host.asked) != 1 || j.exists("a.txt") != allow {
				t.Errorf("asked %+v, file there: %v", j.host.asked, j.exists("a.txt"))
			}
			want := map[bool]string{true: agents.StatusOK, false: agents.StatusDenied}[allow]
			if r := j.codexResult("touch a.txt"); r.Status != want {
				t.Errorf("result = %+v, want %s", r, want)
			}
		})
	}
}
