package acp_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/acp"
	"sandboxrun/agents/agentstest"
	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/internal/testenv"
	"sandboxrun/internal/wire"
)

func kimiBash(command string) modelserver.ToolUse {
	return modelserver.Tool("Bash", map[string]string{"command": command})
}

func TestKimiSpeaksEachWire(t *testing.T) {
	for i, w := range wire.All() {
		unknown := "a-vendor/a-model:8b \"quoted\""
		if w == wire.GoogleGenerate {
			unknown = "a-model" // its API has the name in the path
		}
		models := []string{"", unknown}
		for _, model := range testenv.Sample(t, []string{models[i%2], models[1-i%2]}, 1) { // a sample has each by turns
			t.Run(string(w)+" "+model, func(t *testing.T) {
				j := agentstest.NewJob(t, "kimi", nil, agentstest.Uses(kimiBash("echo hi; exit 3")), modelserver.Step{Text: "done"})
				j.Turn.Wire, j.Turn.Model = w, model
				o := j.MustRun()
				if o.End != agents.EndClean || o.Claim != "done" || o.Unknown != 0 || o.Model == "" || model != "" && o.Model != model {
					t.Errorf("outcome = %+v %+v", o, j.Host.Raws())
				}
				for _, r := range j.Server.Requests() {
					if r.Wire != w || r.Model != o.Model || r.Key != agentstest.Placeholder || !r.Main {
						t.Errorf("asked %s for %s with key %q, main %t", r.Wire, r.Model, r.Key, r.Main)
					}
				}
				if u := o.Usage; u.InputTokens != 200 || u.OutputTokens != 40 {
					t.Errorf("usage = %+v", u)
				}
				r := agentstest.Of[agents.ToolResult](j.Host)
				if len(r) != 1 || r[0].Status != agents.StatusError || r[0].ExitCode == nil || *r[0].ExitCode != 3 || r[0].Command != "echo hi; exit 3" {
					t.Errorf("results = %+v", r)
				}
				if len(j.Host.Asked) != 1 || j.Host.Asked[0].Command != "echo hi; exit 3" {
					t.Errorf("asked = %+v", j.Host.Asked)
				}
			})
		}
	}
}

func TestKimiNamesARefusedKeyOnEachWire(t *testing.T) {
	for _, w := range wire.All()[1:] {
		t.Run(string(w), func(t *testing.T) {
			j := agentstest.NewJob(t, "kimi", nil, agentstest.Failing(401, "authentication_error", "invalid key", -1))
			j.Turn.Wire = w
			if o := j.MustRun(); o.End != agents.EndFailed || o.Code != agents.CodeAuth {
				t.Errorf("outcome = %+v", o)
			}
		})
	}
}

// An answer that the question does not have skips the question.
func TestKimiGivesOnlyAnswersThatAQuestionHas(t *testing.T) {
	j := agentstest.NewJob(t, "kimi", nil, agentstest.Uses(modelserver.Tool("AskUserQuestion", map[string]any{"questions": []any{
		map[string]any{"question": "Which?", "options": []any{map[string]string{"label": "red"}, map[string]string{"label": "blue"}}},
	}})), modelserver.Step{Text: "done"})
	j.Host.Decide = func(context.Context, agents.ApprovalRequest) agents.Decision {
		return agents.Decision{Allow: true, Answers: map[string][]string{"0": {"green"}}}
	}
	if o := j.MustRun(); o.End != agents.EndClean {
		t.Errorf("outcome = %+v", o)
	}
	for _, r := range j.Server.Requests() {
		for _, result := range r.Results {
			if strings.Contains(result.Text, "red") || strings.Contains(result.Text, "blue") {
				t.Errorf("the model received an answer that nobody gave: %s", result.Text)
			}
		}
	}
}

// What the program of another image does not have cannot be taken out of it.
func TestKimiThatCannotBeGuardedIsNotPrompted(t *testing.T) {
	t.Parallel()
	prompted := false
	a, ok := agents.Lookup("kimi")
	if !ok {
		t.Fatal("kimi is not registered")
	}
	o, err := a.Run(t.Context(), agentstest.PreparedBox{ScriptBox: agentstest.ScriptBox{Play: func(cli *agentstest.ScriptedCLI) int {
		prompted = begin(cli) != nil
		return cli.Drain()
	}}}, agents.Turn{Prompt: "go"}, &agentstest.Recorder{})
	if err != nil || o.End != agents.EndFailed || o.Code != agents.CodeFailed || prompted {
		t.Errorf("outcome = %+v, %v, prompted %t", o, err, prompted)
	}
}

func TestKimiTurnWithoutItsJournalIsNotClean(t *testing.T) {
	t.Parallel()
	a, ok := agents.Lookup("kimi")
	if !ok {
		t.Fatal("kimi is not registered")
	}
	o, err := a.Run(t.Context(), agentstest.PreparedBox{ScriptBox: agentstest.ScriptBox{Play: func(cli *agentstest.ScriptedCLI) int {
		cli.Say(`{"jsonrpc":"2.0","method":"sandboxrun/guarded"}`)
		prompt := begin(cli)
		cli.Say(textFrame("all done"))
		reply(cli, prompt, endResult)
		return cli.Drain()
	}}}, agents.Turn{Prompt: "go"}, &agentstest.Recorder{})
	if err != nil || o.End != agents.EndFailed || o.Unknown != 0 {
		t.Errorf("outcome = %+v, %v, want a failure: nothing says how the turn ended", o, err)
	}
}

// The journal is below HOME, where commands of the agent write too.
func TestKimiJournalsOfEveryKindAreReadWithinBounds(t *testing.T) {
	const (
		used   = `{"type":"usage.record","usage":{"inputOther":1,"output":2,"inputCacheRead":3,"inputCacheCreation":4}}` + "\n"
		whole  = `{"type":"turn.ended","reason":"completed"}` + "\n"
		failed = `{"type":"turn.ended","reason":"failed","error":{"code":"`
	)
	plain := func(text string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(text), 0o644) }
	}
	for name, c := range map[string]struct {
		make    func(path string) error
		session string
		used    int64
		code    string
		fails   bool
	}{
		"whole":            {make: plain(used + "x\n" + used + whole), used: 4},
		"last turn counts": {make: plain(whole + failed + `provider.api_error","message":"x"}}` + "\n"), code: agents.CodeFailed},
		"rate limit":       {make: plain(failed + `provider.rate_limit","message":"slow"}}` + "\n"), code: agents.CodeQuota},
		"no money":         {make: plain(failed + `provider.api_error","details":{"statusCode":402}}}` + "\n"), code: agents.CodeQuota},
		"key":              {make: plain(failed + `provider.auth_error"}}` + "\n"), code: agents.CodeAuth},
		"cancelled":        {make: plain(`{"type":"turn.ended","reason":"cancelled"}` + "\n"), code: agents.CodeFailed},
		"no reason":        {make: plain(`{"type":"turn.ended"}` + "\n"), code: agents.CodeFailed},
		"reason is a list": {make: plain(`{"type":"turn.ended","reason":["completed"]}` + "\n"), code: agents.CodeFailed},
		"no end":           {make: plain(used), used: 2, fails: true},
		"nothing":          {make: plain(""), fails: true},
		"no journal":       {make: func(string) error { return nil }, fails: true},
		"pipe":             {make: func(path string) error { return syscall.Mkfifo(path, 0o666) }, fails: true},
		"endless device":   {make: func(path string) error { return os.Symlink("/dev/zero", path) }, fails: true},
		"far away":         {make: plain(whole), session: "../../../..", fails: true},
		"a pattern":        {make: plain(whole), session: "*", fails: true},
		"endless line":     {make: plain(`{"type":"turn.ended","reason":"` + strings.Repeat("x", 4<<20) + `"}` + "\n"), fails: true},
		"many lines":       {make: plain(strings.Repeat(used, 50_000) + whole), used: -1},
	} {
		t.Run(name, func(t *testing.T) {
			j := agentstest.NewJob(t, "kimi", nil)
			path := filepath.Join(j.Home, ".kimi-code", "sessions", "wd_workspace", "s-1", "agents", "main", "wire.jsonl")
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := c.make(path); err != nil {
				t.Fatal(err)
			}
			session := c.session
			if session == "" {
				session = "s-1"
			}
			box := agentstest.OpenBox(t, j.Workspace, j.Home)
			began := time.Now()
			u, code, err := acp.ReadKimiJournal(t.Context(), box, session)
			if code != c.code || (err != nil) != c.fails {
				t.Errorf("code %q, %v, want %q, failing %t", code, err, c.code, c.fails)
			}
			if c.used >= 0 && u.OutputTokens != c.used || c.used < 0 && u.OutputTokens == 0 {
				t.Errorf("usage = %+v", u)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("reading took %s", took)
			}
		})
	}
}

// The command of a call whose input never became whole is the one that is asked for.
func TestKimiAsksForTheCommandOfAnUnreadableCall(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{Decide: denyAll}
	a, ok := agents.Lookup("kimi")
	if !ok {
		t.Fatal("kimi is not registered")
	}
	if _, err := a.Run(t.Context(), agentstest.PreparedBox{ScriptBox: agentstest.ScriptBox{Play: func(cli *agentstest.ScriptedCLI) int {
		cli.Say(`{"jsonrpc":"2.0","method":"sandboxrun/guarded"}`)
		begin(cli)
		cli.Say(noteFrame(`{"sessionUpdate":"tool_call","toolCallId":"0:c1","title":"Bash","kind":"execute","status":"pending","content":[{"type":"content","content":{"type":"text","text":"{\"command\":\"echo {\"command\":"}}]}`),
			askFrame("0", `{"toolCallId":"0:c1","title":"Bash","content":[{"type":"content","content":{"type":"text","text":"Requesting approval to Running: git push\nnow"}}]}`, optionList))
		cli.Hear()
		return 0
	}}}, agents.Turn{Prompt: "go"}, h); err != nil {
		t.Fatal(err)
	}
	if len(h.Asked) != 1 || h.Asked[0].Command != "git push\nnow" || h.Asked[0].Action != agents.ActionCommand || h.Asked[0].Tool != "Bash" {
		t.Errorf("asked = %+v", h.Asked)
	}
}
