package agents_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest/kit"
	"sandboxrun/agents/agentstest/modelserver"
)

// suiteBound is how long one case of the suite may take; failing providers are
// given up on long before.
const suiteBound = 4 * time.Minute

// TestConformance drives every registered CLI, the real one in the real image,
// through the same cases. The names of the cases are the columns of the table
// in the README.
func TestConformance(t *testing.T) {
	for _, a := range agents.All() {
		name := a.Info().Name
		t.Run(name, func(t *testing.T) {
			k, err := kit.Load(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct {
				name string
				test func(*testing.T, string, kit.Kit)
			}{
				{"work", conformWork}, {"denied", conformDenied}, {"question", conformQuestion},
				{"refused_key", conformRefusedKey}, {"rate_limit_passes", conformRateLimitPasses}, {"rate_limit_stays", conformRateLimitStays},
				{"cut_passes", conformCutPasses}, {"cut_stays", conformCutStays}, {"silence", conformSilence},
				{"cancel", conformCancel}, {"follow_up", conformFollowUp}, {"hostile_repository", conformHostile}, {"read_only", conformReadOnly},
				{"mcp", conformMCP}, {"probe", conformProbe},
			} {
				t.Run(c.name, func(t *testing.T) { c.test(t, name, k) })
			}
		})
	}
}

// suiteJob prepares a turn of the suite and bounds it.
func suiteJob(t *testing.T, agent string, k kit.Kit, files map[string]string, steps ...modelserver.Step) (*job, context.Context) {
	t.Helper()
	j := newJobOf(t, agent, files, steps...)
	j.turn.Model = k.Model
	ctx, cancel := context.WithTimeoutCause(t.Context(), suiteBound, errors.New("the suite's bound"))
	t.Cleanup(cancel)
	return j, ctx
}

func (j *job) in(ctx context.Context) agents.Outcome {
	j.t.Helper()
	began := time.Now()
	o, err := j.run(ctx)
	if err != nil {
		j.t.Fatalf("run: %v (%+v)", err, o)
	}
	j.t.Logf("%s in %s: %s %s %.300s", j.agent.Info().Name, time.Since(began).Round(100*time.Millisecond), o.End, o.Code, o.Message)
	for _, r := range j.server.Requests() {
		if r.Main && r.Key != placeholder {
			j.t.Errorf("%s %s came with key %q", r.Method, r.Path, r.Key)
		}
	}
	for _, f := range j.server.Failures() {
		j.t.Error(f)
	}
	return o
}

func uses(t ...modelserver.ToolUse) modelserver.Step { return modelserver.Step{Tools: t} }

// statuses lists the results of the turn by status and checks that each call
// has exactly one.
func (j *job) statuses() map[string]int {
	j.t.Helper()
	got, results := map[string]int{}, map[string]int{}
	for _, r := range of[agents.ToolResult](j.host) {
		got[r.Status]++
		results[r.ID]++
	}
	for _, c := range of[agents.ToolCall](j.host) {
		if results[c.ID] != 1 {
			j.t.Errorf("call %s (%s) has %d results", c.ID, c.Tool, results[c.ID])
		}
	}
	return got
}

func conformWork(t *testing.T, agent string, k kit.Kit) {
	j, ctx := suiteJob(t, agent, k, map[string]string{"src/sum.sh": "echo $(($1 - $2))\n", "old.txt": "old\n"},
		modelserver.Step{Text: "I look first.", Thinking: "hm", Tools: []modelserver.ToolUse{k.Read("src/sum.sh")}},
		uses(k.Edit("src/sum.sh", "$1 - $2", "$1 + $2")),
		uses(k.Write("NOTES.md", "# Notes\n\nmöbius ✓\n")),
		uses(k.Run("rm old.txt && sh src/sum.sh 1 2 && echo seén")),
		modelserver.Step{Text: "All done ✓."})
	o := j.in(ctx)
	if o.End != agents.EndClean || o.Code != "" || !strings.Contains(o.Claim, "All done ✓.") || o.SessionID == "" {
		t.Errorf("outcome = %+v, want clean with a claim and a session", o)
	}
	if v := j.agent.Info().Version; o.Version != v {
		t.Errorf("version %q, pinned %q", o.Version, v)
	}
	if o.Unknown != 0 {
		t.Errorf("%d frames nobody knows: %+v", o.Unknown, j.host.raws())
	}
	if o.Usage.OutputTokens == 0 {
		t.Errorf("usage = %+v", o.Usage)
	}
	if got := j.text("src/sum.sh"); got != "echo $(($1 + $2))\n" {
		t.Errorf("sum.sh = %q", got)
	}
	if got := j.text("NOTES.md"); strings.TrimSpace(got) != "# Notes\n\nmöbius ✓" {
		t.Errorf("NOTES.md = %q", got)
	}
	if j.exists("old.txt") {
		t.Error("old.txt is still there")
	}
	if got := j.statuses(); got[agents.StatusOK] != 4 || len(got) != 1 {
		t.Errorf("results = %v, want four ok", got)
	}
	actions := map[agents.Action]int{}
	for _, c := range of[agents.ToolCall](j.host) {
		actions[c.Action]++
	}
	if actions[agents.ActionEdit] < 1 || actions[agents.ActionCommand] < 1 {
		t.Errorf("actions = %v", actions)
	}
	if said := strings.Join(j.host.texts(agents.KindAssistantMessage), "|"); !strings.Contains(said, "I look first.") || !strings.Contains(said, "All done ✓.") {
		t.Errorf("messages = %q", said)
	}
	if left := j.server.Remaining(); left != 0 {
		t.Errorf("%d steps were not asked for", left)
	}
}

func conformDenied(t *testing.T, agent string, k kit.Kit) {
	const reason = "edits are not wanted here"
	j, ctx := suiteJob(t, agent, k, map[string]string{"keep.txt": "keep\n"},
		uses(k.Write("a.txt", "a\n")),
		modelserver.Step{Text: "I could not."}, modelserver.Step{Text: "I could not."})
	j.host.decide = func(context.Context, agents.ApprovalRequest) agents.Decision {
		return agents.Decision{Reason: reason}
	}
	o := j.in(ctx)
	if o.End != agents.EndClean {
		t.Errorf("outcome = %+v, want clean: the model was told and went on", o)
	}
	if j.exists("a.txt") {
		t.Error("the denied file was written")
	}
	if len(j.host.asked) == 0 {
		t.Fatal("nobody was asked")
	}
	if got := j.statuses(); got[agents.StatusDenied] != 1 {
		t.Errorf("results = %v, want one denied", got)
	}
	if q := j.host.asked[0]; q.ID == "" || len(q.Input) == 0 || q.Action == "" {
		t.Errorf("asked %+v", q)
	}
	requests := j.server.Requests()
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
	j, ctx := suiteJob(t, agent, k, nil, uses(ask), modelserver.Step{Text: "Thanks.", Expect: "blue"})
	j.host.decide = func(_ context.Context, r agents.ApprovalRequest) agents.Decision {
		d := agents.Decision{Allow: true, Answers: map[string][]string{}}
		for _, q := range r.Questions {
			d.Answers[q.ID] = []string{"blue"}
		}
		return d
	}
	if o := j.in(ctx); o.End != agents.EndClean || !strings.Contains(o.Claim, "Thanks.") {
		t.Errorf("outcome = %+v", o)
	}
	if !slices.ContainsFunc(j.host.asked, func(r agents.ApprovalRequest) bool {
		return len(r.Questions) == 1 && strings.Contains(r.Questions[0].Text, "Which colour?") && len(r.Questions[0].Options) >= 2
	}) {
		t.Errorf("asked %+v", j.host.asked)
	}
}

func conformRefusedKey(t *testing.T, agent string, k kit.Kit) {
	j, ctx := suiteJob(t, agent, k, nil, failing(401, "authentication_error", "invalid key", -1))
	if o := j.in(ctx); o.End != agents.EndFailed || o.Code != "agent_auth" || o.Message == "" {
		t.Errorf("outcome = %+v, want agent_auth", o)
	}
	if said := j.host.texts(agents.KindAssistantMessage); len(said) > 0 {
		t.Errorf("an error was shown as words of the model: %q", said)
	}
}

func conformRateLimitPasses(t *testing.T, agent string, k kit.Kit) {
	j, ctx := suiteJob(t, agent, k, nil,
		modelserver.Step{Fault: &modelserver.Fault{Status: 429, Type: "rate_limit_error", Message: "slow down", RetryAfter: 1}}, modelserver.Step{Text: "done"})
	if o := j.in(ctx); o.End != agents.EndClean || !strings.Contains(o.Claim, "done") {
		t.Errorf("outcome = %+v, want clean", o)
	}
}

func conformRateLimitStays(t *testing.T, agent string, k kit.Kit) {
	j, ctx := suiteJob(t, agent, k, nil, modelserver.Step{Times: -1, Fault: &modelserver.Fault{Status: 429, Type: "rate_limit_error", Message: "slow down", RetryAfter: 1}})
	if o := j.in(ctx); o.End != agents.EndFailed || o.Code != "agent_quota" {
		t.Errorf("outcome = %+v, want agent_quota", o)
	}
}

func conformCutPasses(t *testing.T, agent string, k kit.Kit) {
	j, ctx := suiteJob(t, agent, k, nil,
		modelserver.Step{Cut: true, Text: "These are words that never arrive as a whole."},
		modelserver.Step{Text: "done"}, modelserver.Step{Text: "done"})
	if o := j.in(ctx); o.End != agents.EndClean || !strings.Contains(o.Claim, "done") {
		t.Errorf("outcome = %+v, want clean", o)
	}
}

func conformCutStays(t *testing.T, agent string, k kit.Kit) {
	j, ctx := suiteJob(t, agent, k, nil, modelserver.Step{Cut: true, Times: -1, Text: "These are words that never arrive as a whole."})
	if o := j.in(ctx); o.End == agents.EndClean || o.Code != "agent_failed" {
		t.Errorf("outcome = %+v, want agent_failed", o)
	}
}

func conformSilence(t *testing.T, agent string, k kit.Kit) {
	j, ctx := suiteJob(t, agent, k, nil, modelserver.Step{Silent: true, Times: -1})
	j.turn.Idle = 15
	if o := j.in(ctx); o.End != agents.EndInterrupted || o.Code != "agent_no_result" || !strings.Contains(o.Message, "said nothing for 15s") {
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
	j, bound := suiteJob(t, agent, k, map[string]string{"marker-of-the-command": "x\n"},
		uses(k.Run("curl -s --noproxy '*' "+running.URL+"; tail -f "+marker)), modelserver.Step{Text: "done"})
	context.AfterFunc(bound, func() { cancel(context.Cause(bound)) })
	o, err := j.run(ctx)
	if !errors.Is(err, stop) || o.End != agents.EndInterrupted {
		t.Errorf("error = %v, outcome = %+v, want interrupted with the context's cause", err, o)
	}
	if got := j.statuses(); got[agents.StatusOK] > 0 {
		t.Errorf("results = %v, want none ok", got)
	}
	// The box is gone, or the command is.
	out, err := exec.Command("docker", "exec", j.box.id, "sh", "-c", "pgrep -f '^tail -f "+marker+"' || true").CombinedOutput()
	if err == nil && strings.TrimSpace(string(out)) != "" {
		t.Errorf("processes of the command are left: %s", out)
	}
}

func conformFollowUp(t *testing.T, agent string, k kit.Kit) {
	const word = "marmalade-4711"
	j, ctx := suiteJob(t, agent, k, nil, modelserver.Step{Text: "The word is " + word + "."},
		modelserver.Step{Text: "It was that word.", Expect: word}, modelserver.Step{Text: "Again that word.", Expect: "It was that word"})
	first := j.in(ctx)
	if first.End != agents.EndClean {
		t.Fatalf("first turn: %+v", first)
	}
	session := first.SessionID
	for i, want := range []string{"It was that word.", "Again that word."} {
		j.keepOnly(j.agent.Info().Keep)
		j.turn.Resume, j.turn.SessionID, j.turn.Prompt = true, session, "which word was it?"
		o := j.in(ctx)
		if o.End != agents.EndClean || !strings.Contains(o.Claim, want) {
			t.Fatalf("follow-up %d: %+v", i+1, o)
		}
		session = o.SessionID
	}
	if said := strings.Join(j.host.texts(agents.KindAssistantMessage), "|"); strings.Count(said, "The word is "+word) != 1 {
		t.Errorf("the first turn's words came again: %q", said)
	}
}

// keepOnly moves on to a HOME that holds only what the agent wants kept.
func (j *job) keepOnly(keep []string) {
	j.t.Helper()
	if len(keep) == 0 {
		j.t.Fatal("the agent keeps nothing")
	}
	next := j.t.TempDir()
	for _, rel := range keep {
		from, to := filepath.Join(j.home, rel), filepath.Join(next, rel)
		if _, err := os.Lstat(from); err != nil {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			j.t.Fatal(err)
		}
		if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
			j.t.Fatalf("keep %s: %v: %s", rel, err, out)
		}
	}
	j.home = next
}

func conformReadOnly(t *testing.T, agent string, k kit.Kit) {
	j, ctx := suiteJob(t, agent, k, map[string]string{"keep.txt": "keep\n"},
		uses(k.Write("a.txt", "a\n")), modelserver.Step{Text: "I only plan."}, modelserver.Step{Text: "I only plan."})
	j.turn.ReadOnly = true
	j.host.decide = func(_ context.Context, r agents.ApprovalRequest) agents.Decision {
		return agents.Decision{Allow: r.Action != agents.ActionEdit, Reason: "this turn only plans"}
	}
	if o := j.in(ctx); o.End != agents.EndClean {
		t.Errorf("outcome = %+v, want clean", o)
	}
	if j.exists("a.txt") {
		t.Error("a file was written in a read-only turn")
	}
}

// conformMCP gives the CLI a server of the turn. It leaves at once, which may
// not end the turn; that it was started is seen from what it leaves behind.
func conformMCP(t *testing.T, agent string, k kit.Kit) {
	j, ctx := suiteJob(t, agent, k, nil, modelserver.Step{Text: "hello"})
	j.turn.MCP = []agents.Server{{Name: "mine", Command: "sh", Args: []string{"-c", `echo "$WORD" >/workspace/mine-ran`}, Env: map[string]string{"WORD": "started"}}}
	if o := j.in(ctx); o.End != agents.EndClean {
		t.Errorf("outcome = %+v, want clean", o)
	}
	for _, said := range j.host.texts(agents.KindSystemMessage) {
		if strings.Contains(said, "MCP servers of the task are not started") {
			t.Skip("this CLI starts no MCP servers here, and its turn says so")
		}
	}
	if got := j.text("mine-ran"); got != "started\n" {
		t.Errorf("the server left %q", got)
	}
}

func conformProbe(t *testing.T, agent string, k kit.Kit) {
	j, ctx := suiteJob(t, agent, k, nil)
	p, ok := j.agent.(agents.Prober)
	if !ok {
		t.Fatal("the agent cannot be probed")
	}
	j.turn.BaseURL = "http://127.0.0.1:9"
	version, err := p.Probe(ctx, openBox(t, j.workspace, j.home), j.turn)
	if err != nil || version != j.agent.Info().Version {
		t.Errorf("probe = %q, %v, want %s", version, err, j.agent.Info().Version)
	}
	if n := len(j.server.Requests()); n != 0 {
		t.Errorf("the probe asked the model %d times", n)
	}
}
