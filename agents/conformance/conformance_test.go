package conformance

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
	"sandboxrun/agents/scripted/kit"
	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/internal/testenv"
)

// cases are what every CLI must do. Their names are the columns of the table of
// agents.
var cases = []struct {
	name  string
	test  func(*testing.T, string, kit.Kit)
	every int // in a sample, one of so many agents runs it; those next to one another run others
}{
	{"work", conformWork, 5}, {"denied", conformDenied, 5}, {"question", conformQuestion, 5},
	{"refused_key", conformRefusedKey, 5}, {"rate_limit_passes", conformRateLimitPasses, 5}, {"rate_limit_stays", conformRateLimitStays, 5},
	{"cut_passes", conformCutPasses, 5}, {"cut_stays", conformCutStays, 5}, {"silence", conformSilence, 5},
	{"cancel", conformCancel, 5}, {"follow_up", conformFollowUp, 5}, {"hostile_repository", conformHostile, 1},
	{"read_only", conformReadOnly, 5}, {"mcp", conformMCP, 5}, {"probe", conformProbe, 5},
}

// TestConformance drives every registered CLI, the real one in the real image,
// through the same cases. Where not every case is wanted, each agent works in a
// hostile repository, and the agents share the other cases.
func TestConformance(t *testing.T) {
	t.Parallel()
	for i, a := range agents.All() {
		name := a.Info().Name
		t.Run(name, func(t *testing.T) {
			t.Parallel() // the next agent goes on where one waits for its last case
			k, err := kit.Load(name)
			if err != nil {
				t.Fatal(err)
			}
			left := 0
			for j, c := range cases {
				if !testenv.All() && (i+j)%c.every != 1%c.every {
					left++
					continue
				}
				t.Run(c.name, func(t *testing.T) { c.test(t, name, k) })
			}
			if left > 0 {
				t.Logf("sample: %d of %d cases; \"make test-all\" runs every one", len(cases)-left, len(cases))
			}
		})
	}
}

// workFiles is what a repository has before the work of an agent, and workSteps are the turn's: read, edit, write, run.
var workFiles = map[string]string{"src/sum.sh": "echo $(($1 - $2))\n", "old.txt": "old\n"}

func workSteps(k kit.Kit, command string) []modelserver.Step {
	return []modelserver.Step{
		{Text: "I look first.", Thinking: "hm", Tools: []modelserver.ToolUse{k.Read("src/sum.sh")}},
		agentstest.Uses(k.Edit("src/sum.sh", "$1 - $2", "$1 + $2")),
		agentstest.Uses(k.Write("NOTES.md", "# Notes\n\nmöbius ✓\n")),
		agentstest.Uses(k.Run(command + "rm old.txt && sh src/sum.sh 1 2 && echo seén")),
		{Text: "All done ✓."},
	}
}

func conformWork(t *testing.T, agent string, k kit.Kit) {
	j, ctx := agentstest.NewBoundedJob(t, agent, k, workFiles, workSteps(k, "")...)
	mustWork(t, j, j.MustEnd(ctx))
}

// mustWork checks a turn that took workSteps.
func mustWork(t *testing.T, j *agentstest.Job, o agents.Outcome) {
	t.Helper()
	if o.End != agents.EndClean || o.Code != "" || !strings.Contains(o.Claim, "All done ✓.") || o.SessionID == "" {
		t.Errorf("outcome = %+v, want clean with a claim and a session", o)
	}
	if v := j.Agent.Info().Version; o.Version != v {
		t.Errorf("version %q, pinned %q", o.Version, v)
	}
	if o.Unknown != 0 {
		t.Errorf("%d frames nobody knows: %+v", o.Unknown, j.Host.Raws())
	}
	if o.Usage.OutputTokens == 0 {
		t.Errorf("usage = %+v", o.Usage)
	}
	if got := j.Text("src/sum.sh"); got != "echo $(($1 + $2))\n" {
		t.Errorf("sum.sh = %q", got)
	}
	if got := j.Text("NOTES.md"); strings.TrimSpace(got) != "# Notes\n\nmöbius ✓" {
		t.Errorf("NOTES.md = %q", got)
	}
	if j.Exists("old.txt") {
		t.Error("old.txt is still there")
	}
	if got := j.Statuses(); got[agents.StatusOK] != 4 || len(got) != 1 {
		t.Errorf("results = %v, want four ok", got)
	}
	actions := map[agents.Action]int{}
	for _, c := range agentstest.Of[agents.ToolCall](j.Host) {
		actions[c.Action]++
	}
	if actions[agents.ActionEdit] < 1 || actions[agents.ActionCommand] < 1 {
		t.Errorf("actions = %v", actions)
	}
	if said := strings.Join(j.Host.Texts(agents.KindAssistantMessage), "|"); !strings.Contains(said, "I look first.") || !strings.Contains(said, "All done ✓.") {
		t.Errorf("messages = %q", said)
	}
	if left := j.Server.Remaining(); left != 0 {
		t.Errorf("%d steps were not asked for", left)
	}
}

func conformDenied(t *testing.T, agent string, k kit.Kit) {
	const reason = "edits are not wanted here"
	j, ctx := agentstest.NewBoundedJob(t, agent, k, map[string]string{"keep.txt": "keep\n"},
		agentstest.Uses(k.Write("a.txt", "a\n")),
		modelserver.Step{Text: "I could not."}, modelserver.Step{Text: "I could not."})
	j.Host.Decide = func(context.Context, agents.ApprovalRequest) agents.Decision {
		return agents.Decision{Reason: reason}
	}
	o := j.MustEnd(ctx)
	if o.End != agents.EndClean {
		t.Errorf("outcome = %+v, want clean: the model was told and went on", o)
	}
	if j.Exists("a.txt") {
		t.Error("the denied file was written")
	}
	if len(j.Host.Asked) == 0 {
		t.Fatal("nobody was asked")
	}
	if got := j.Statuses(); got[agents.StatusDenied] != 1 {
		t.Errorf("results = %v, want one denied", got)
	}
	if q := j.Host.Asked[0]; q.ID == "" || len(q.Input) == 0 || q.Action == "" {
		t.Errorf("asked %+v", q)
	}
	requests := j.Server.Requests()
	if !slices.ContainsFunc(requests, func(r modelserver.Request) bool {
		return strings.Contains(r.Prompt, reason) || slices.ContainsFunc(r.Results, func(s modelserver.Result) bool { return strings.Contains(s.Text, reason) })
	}) {
		t.Log("the CLI does not pass the reason on to the model")
		if !slices.ContainsFunc(requests, func(r modelserver.Request) bool { return len(r.Results) > 0 }) {
			t.Error("the model was not even told of the denial")
		}
	}
}

func conformQuestion(t *testing.T, agent string, k kit.Kit) {
	ask, ok := k.Question("Which colour?", "red", "blue")
	if !ok {
		t.Skip("this CLI has no tool to ask the user")
	}
	j, ctx := agentstest.NewBoundedJob(t, agent, k, nil, agentstest.Uses(ask), modelserver.Step{Text: "Thanks.", Expect: "blue"})
	j.Host.Decide = func(_ context.Context, r agents.ApprovalRequest) agents.Decision {
		d := agents.Decision{Allow: true, Answers: map[string][]string{}}
		for _, q := range r.Questions {
			d.Answers[q.ID] = []string{"blue"}
		}
		return d
	}
	if o := j.MustEnd(ctx); o.End != agents.EndClean || !strings.Contains(o.Claim, "Thanks.") {
		t.Errorf("outcome = %+v", o)
	}
	if !slices.ContainsFunc(j.Host.Asked, func(r agents.ApprovalRequest) bool {
		return len(r.Questions) == 1 && strings.Contains(r.Questions[0].Text, "Which colour?") && len(r.Questions[0].Options) >= 2
	}) {
		t.Errorf("asked %+v", j.Host.Asked)
	}
}

func conformRefusedKey(t *testing.T, agent string, k kit.Kit) {
	j, ctx := agentstest.NewBoundedJob(t, agent, k, nil, agentstest.Failing(401, "authentication_error", "invalid key", -1))
	if o := j.MustEnd(ctx); o.End != agents.EndFailed || o.Code != "agent_auth" || o.Message == "" {
		t.Errorf("outcome = %+v, want agent_auth", o)
	}
	if said := j.Host.Texts(agents.KindAssistantMessage); len(said) > 0 {
		t.Errorf("an error was shown as words of the model: %q", said)
	}
}

func conformRateLimitPasses(t *testing.T, agent string, k kit.Kit) {
	j, ctx := agentstest.NewBoundedJob(t, agent, k, nil,
		modelserver.Step{Fault: &modelserver.Fault{Status: 429, Type: "rate_limit_error", Message: "slow down", RetryAfter: 1}}, modelserver.Step{Text: "done"})
	if o := j.MustEnd(ctx); o.End != agents.EndClean || !strings.Contains(o.Claim, "done") {
		t.Errorf("outcome = %+v, want clean", o)
	}
}

func conformRateLimitStays(t *testing.T, agent string, k kit.Kit) {
	j, ctx := agentstest.NewBoundedJob(t, agent, k, nil, modelserver.Step{Times: -1, Fault: &modelserver.Fault{Status: 429, Type: "rate_limit_error", Message: "slow down", RetryAfter: 1}})
	if o := j.MustEnd(ctx); o.End != agents.EndFailed || o.Code != "agent_quota" {
		t.Errorf("outcome = %+v, want agent_quota", o)
	}
}

func conformCutPasses(t *testing.T, agent string, k kit.Kit) {
	j, ctx := agentstest.NewBoundedJob(t, agent, k, nil,
		modelserver.Step{Cut: true, Text: "These are words that never arrive as a whole."},
		modelserver.Step{Text: "done"}, modelserver.Step{Text: "done"})
	if o := j.MustEnd(ctx); o.End != agents.EndClean || !strings.Contains(o.Claim, "done") {
		t.Errorf("outcome = %+v, want clean", o)
	}
}

func conformCutStays(t *testing.T, agent string, k kit.Kit) {
	j, ctx := agentstest.NewBoundedJob(t, agent, k, nil, modelserver.Step{Cut: true, Times: -1, Text: "These are words that never arrive as a whole."})
	if o := j.MustEnd(ctx); o.End == agents.EndClean || o.Code != "agent_failed" {
		t.Errorf("outcome = %+v, want agent_failed", o)
	}
}

func conformSilence(t *testing.T, agent string, k kit.Kit) {
	j, ctx := agentstest.NewBoundedJob(t, agent, k, nil, modelserver.Step{Silent: true, Times: -1})
	j.Turn.Idle = 15
	if o := j.MustEnd(ctx); o.End != agents.EndInterrupted || o.Code != "agent_no_result" || !strings.Contains(o.Message, "said nothing for 15s") {
		t.Errorf("outcome = %+v, want interrupted by the idle limit", o)
	}
}

func conformCancel(t *testing.T, agent string, k kit.Kit) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	stop := errors.New("time is up")
	// The command itself says that it runs.
	running := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { cancel(stop) }))
	t.Cleanup(running.Close)
	const marker = "/workspace/marker-of-the-command"
	j, bound := agentstest.NewBoundedJob(t, agent, k, map[string]string{"marker-of-the-command": "x\n"},
		agentstest.Uses(k.Run("curl -s --noproxy '*' "+running.URL+"; tail -f "+marker)), modelserver.Step{Text: "done"})
	context.AfterFunc(bound, func() { cancel(context.Cause(bound)) })
	o, err := j.Run(ctx)
	if !errors.Is(err, stop) || o.End != agents.EndInterrupted {
		t.Errorf("error = %v, outcome = %+v, want interrupted with the context's cause", err, o)
	}
	if got := j.Statuses(); got[agents.StatusOK] > 0 {
		t.Errorf("results = %v, want none ok", got)
	}
	// The box is gone, or the command is.
	out, err := exec.Command("docker", "exec", j.Box.ID, "sh", "-c", "pgrep -f '^tail -f "+marker+"' || true").CombinedOutput()
	if err == nil && strings.TrimSpace(string(out)) != "" {
		t.Errorf("processes of the command are left: %s", out)
	}
}

func conformFollowUp(t *testing.T, agent string, k kit.Kit) {
	const word = "marmalade-4711"
	j, ctx := agentstest.NewBoundedJob(t, agent, k, nil, modelserver.Step{Text: "The word is " + word + "."},
		modelserver.Step{Text: "It was that word.", Expect: word}, modelserver.Step{Text: "Again that word.", Expect: "It was that word"})
	first := j.MustEnd(ctx)
	if first.End != agents.EndClean {
		t.Fatalf("first turn: %+v", first)
	}
	session := first.SessionID
	for i, want := range []string{"It was that word.", "Again that word."} {
		j.KeepOnly(j.Agent.Info().Keep)
		j.Turn.Resume, j.Turn.SessionID, j.Turn.Prompt = true, session, "which word was it?"
		o := j.MustEnd(ctx)
		if o.End != agents.EndClean || !strings.Contains(o.Claim, want) {
			t.Fatalf("follow-up %d: %+v", i+1, o)
		}
		session = o.SessionID
	}
	if said := strings.Join(j.Host.Texts(agents.KindAssistantMessage), "|"); strings.Count(said, "The word is "+word) != 1 {
		t.Errorf("the first turn's words came again: %q", said)
	}
}

func conformReadOnly(t *testing.T, agent string, k kit.Kit) {
	j, ctx := agentstest.NewBoundedJob(t, agent, k, map[string]string{"keep.txt": "keep\n"},
		agentstest.Uses(k.Write("a.txt", "a\n")), modelserver.Step{Text: "I only plan."}, modelserver.Step{Text: "I only plan."})
	j.Turn.ReadOnly = true
	j.Host.Decide = func(_ context.Context, r agents.ApprovalRequest) agents.Decision {
		return agents.Decision{Allow: r.Action != agents.ActionEdit, Reason: "this turn only plans"}
	}
	if o := j.MustEnd(ctx); o.End != agents.EndClean {
		t.Errorf("outcome = %+v, want clean", o)
	}
	if j.Exists("a.txt") {
		t.Error("a file was written in a read-only turn")
	}
}

// conformMCP gives the CLI two servers of the turn: the model calls the tool of
// one, which takes a moment to connect; the other leaves at once, which may not
// end the turn and is reported.
func conformMCP(t *testing.T, agent string, k kit.Kit) {
	steps := k.Record("it works")
	if steps == nil {
		steps = []modelserver.Step{{Text: "hello"}}
	}
	j, ctx := agentstest.NewBoundedJob(t, agent, k, nil, append(steps, modelserver.Step{Text: "done"})...)
	j.Turn.MCP = []agents.Server{
		{Name: "mine", Command: "node", Args: []string{"-e", agentstest.RecordServer}, Env: map[string]string{"WORD": "yes"}},
		{Name: "broken", Command: "sh", Args: []string{"-c", "exit 3"}},
	}
	o := j.MustEnd(ctx)
	said := j.Host.Texts(agents.KindSystemMessage)
	if k.ServerTool == nil {
		if o.End != agents.EndClean || !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, "MCP servers of the task are not started") }) {
			t.Errorf("outcome = %+v, said %q, want a clean end and a word about the servers", o, said)
		}
		t.Skip("this CLI starts no MCP servers here, and its turn says so")
	}
	if o.End != agents.EndClean {
		t.Errorf("outcome = %+v, want clean", o)
	}
	if got := j.Text("recorded"); got != "yes it works\n" {
		t.Errorf("the server recorded %q", got)
		for _, r := range j.Server.Requests() {
			if r.Main {
				t.Logf("the model was offered %q", r.Tools)
			}
		}
	}
	if !slices.ContainsFunc(j.Host.Asked, func(r agents.ApprovalRequest) bool { return r.Action == agents.ActionMCP }) {
		t.Errorf("nobody was asked for the call: %+v", j.Host.Asked)
	}
	if !slices.ContainsFunc(agentstest.Of[agents.ToolResult](j.Host), func(r agents.ToolResult) bool {
		return r.Status == agents.StatusOK && strings.Contains(r.Text, "recorded it")
	}) {
		t.Errorf("results = %+v", agentstest.Of[agents.ToolResult](j.Host))
	}
	if !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, "broken") }) {
		t.Errorf("nobody reported the server that left: %q", said)
	}
}

func conformProbe(t *testing.T, agent string, k kit.Kit) {
	j, ctx := agentstest.NewBoundedJob(t, agent, k, nil)
	p, ok := j.Agent.(agents.Prober)
	if !ok {
		t.Fatal("the agent cannot be probed")
	}
	j.Turn.BaseURL = "http://127.0.0.1:9"
	version, err := p.Probe(ctx, agentstest.OpenBox(t, j.Workspace, j.Home), j.Turn)
	if err != nil || version != j.Agent.Info().Version {
		t.Errorf("probe = %q, %v, want %s", version, err, j.Agent.Info().Version)
	}
	if n := len(j.Server.Requests()); n != 0 {
		t.Errorf("the probe asked the model %d times", n)
	}
}
