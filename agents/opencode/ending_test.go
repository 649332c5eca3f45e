package opencode_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
)

func TestEndsCleanWithTheSessionsIdle(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	o := mustPlay(t, h, func(s *playedServer) bool {
		s.say(idleEvent) // of something before
		s.say(busyEvent, answerEvent, textEvent("prt_1", "first "), textEvent("prt_1", "first "), textEvent("prt_2", "second"),
			`message.part.updated {"part":{"id":"prt_3","messageID":"msg_1","sessionID":"ses_main","type":"step-finish","cost":0.5,"tokens":{"input":1,"output":2,"reasoning":3,"cache":{"read":4,"write":5}}}}`,
			stopEvent, idleEvent, idleEvent, failEvent("UnknownError", `{"message":"too late"}`))
		return true
	})
	if o.End != agents.EndClean || o.Claim != "first second" || o.SessionID != sessionID || o.Version != "9.9.9" || o.Model != "m-1" || o.Unknown != 0 {
		t.Errorf("outcome = %+v", o)
	}
	if want := (agents.Usage{InputTokens: 1, OutputTokens: 5, CacheReadTokens: 4, CacheWriteTokens: 5, Turns: 1, CostUSD: 0.5}); o.Usage != want {
		t.Errorf("usage = %+v, want %+v", o.Usage, want)
	}
	if said := h.Texts(agents.KindAssistantMessage); len(said) != 2 {
		t.Errorf("messages = %q, want each once", said)
	}
}

func TestJudgesErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events []string
		end    agents.End
		code   string
	}{
		"refused key":     {[]string{failEvent("APIError", `{"message":"no","statusCode":401}`), idleEvent}, agents.EndFailed, "agent_auth"},
		"forbidden":       {[]string{failEvent("APIError", `{"message":"no","statusCode":403}`)}, agents.EndFailed, "agent_auth"},
		"no key":          {[]string{failEvent("ProviderAuthError", `{"message":"no"}`)}, agents.EndFailed, "agent_auth"},
		"limit":           {[]string{failEvent("APIError", `{"message":"no","statusCode":429}`), idleEvent, idleEvent}, agents.EndFailed, "agent_quota"},
		"provider":        {[]string{failEvent("APIError", `{"message":"no","statusCode":500}`), idleEvent}, agents.EndFailed, "agent_failed"},
		"goes on":         {[]string{failEvent("ContextOverflowError", `{}`), `session.compacted {"sessionID":"ses_main"}`, strings.ReplaceAll(stopEvent, "msg_1", "msg_2"), idleEvent}, agents.EndClean, ""},
		"overflow stays":  {[]string{failEvent("ContextOverflowError", `{"message":"too long"}`), idleEvent}, agents.EndFailed, "agent_failed"},
		"cut at a length": {[]string{strings.ReplaceAll(stopEvent, `"stop"`, `"length"`), idleEvent}, agents.EndFailed, "agent_failed"},
		"waits for tools": {[]string{strings.ReplaceAll(stopEvent, `"stop"`, `"tool-calls"`), idleEvent}, agents.EndFailed, "agent_failed"},
		"no answer":       {[]string{idleEvent}, agents.EndFailed, "agent_no_result"},
		"of a subagent":   {[]string{`session.error {"sessionID":"ses_other","error":{"name":"APIError","data":{"statusCode":500}}}`, stopEvent, idleEvent}, agents.EndClean, ""},
		"long waits":      {[]string{`session.status {"sessionID":"ses_main","status":{"type":"retry","attempt":4,"message":"Rate limit reached","next":99999999999999}}`}, agents.EndFailed, "agent_quota"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := mustPlay(t, &agentstest.Recorder{}, func(s *playedServer) bool {
				s.say(busyEvent, answerEvent)
				s.say(c.events...)
				return true
			})
			if o.End != c.end || o.Code != c.code || (o.Message == "") != (c.code == "") {
				t.Errorf("outcome = %+v, want %s %s", o, c.end, c.code)
			}
		})
	}
}

func TestEndsATurnThatNeverBegan(t *testing.T) {
	t.Parallel()
	o := mustPlayWaiting(t, &agentstest.Recorder{}, 200*time.Millisecond, func(s *playedServer) bool {
		s.say(failEvent("UnknownError", `{"message":"no such agent"}`))
		return true
	})
	if o.End != agents.EndFailed || o.Code != "agent_failed" || o.Message != "no such agent" {
		t.Errorf("outcome = %+v", o)
	}
}

func TestTellsALostServer(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	o := mustPlay(t, h, func(s *playedServer) bool {
		s.say(busyEvent, answerEvent, callEvent("prt_1", "bash", `{"status":"running","input":{"command":"true"}}`))
		return false
	})
	if o.End != agents.EndFailed || o.Code != "agent_crashed" {
		t.Errorf("outcome = %+v, want a crash", o)
	}
	if r := h.Results(t)["bash true"]; r.Status != agents.StatusCancelled {
		t.Errorf("result = %+v, want cancelled", r)
	}
}

func TestRefusesAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(http.ResponseWriter) bool{
		"a page": func(w http.ResponseWriter) bool { _, _ = io.WriteString(w, "<html>"); return true },
		"a redirect": func(w http.ResponseWriter) bool {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(302)
			return true
		},
		"no end": func(w http.ResponseWriter) bool {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"version":"`+strings.Repeat("x", 2<<20)+`"}`)
			return true
		},
		"deep": func(w http.ResponseWriter) bool {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, strings.Repeat("[", 5000))
			return true
		},
		"long headers": func(w http.ResponseWriter) bool { w.Header().Set("X", strings.Repeat("x", 1<<20)); return true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, err := playTurn(t, agents.Turn{Prompt: "go"}, &agentstest.Recorder{}, &playedServer{handle: answer})
			if err != nil || o.End != agents.EndFailed || o.Code != "agent_crashed" {
				t.Errorf("outcome = %+v, %v, want a crash", o, err)
			}
		})
	}
}

func TestFallsSilent(t *testing.T) {
	t.Parallel()
	const beat = `server.heartbeat {}`
	for name, running := range map[string]bool{"without a command": false, "with one": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &playedServer{script: func(s *playedServer) bool {
				s.say(busyEvent, answerEvent)
				if running {
					s.say(callEvent("prt_1", "bash", `{"status":"running","input":{"command":"make"}}`))
				}
				tick := time.NewTicker(100 * time.Millisecond)
				defer tick.Stop()
				for range 25 {
					<-tick.C
					s.say(beat)
				}
				if running {
					s.say(callEvent("prt_1", "bash", `{"status":"completed","input":{"command":"make"},"output":"","metadata":{"exit":0}}`))
				}
				return s.finish()
			}}
			o, err := playTurn(t, agents.Turn{Prompt: "go", Idle: 1}, &agentstest.Recorder{}, p)
			if err != nil {
				t.Fatal(err)
			}
			if want := map[bool]agents.End{false: agents.EndInterrupted, true: agents.EndClean}[running]; o.End != want {
				t.Errorf("outcome = %+v, want %s", o, want)
			}
		})
	}
}

func TestAbortsBeforeItsServerIsKilled(t *testing.T) {
	t.Parallel()
	stop := errors.New("time is up")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	h := &agentstest.Recorder{Decide: func(ctx context.Context, _ agents.ApprovalRequest) agents.Decision {
		cancel(stop)
		<-ctx.Done()
		return agents.Decision{Allow: true}
	}}
	told := make(chan post, 2)
	p := &playedServer{script: func(s *playedServer) bool {
		s.say(busyEvent, answerEvent, callEvent("prt_1", "bash", `{"status":"running","input":{"command":"make"}}`), askEvent("per_1", "bash", "prt_1"))
		for range 2 {
			x := s.heard()
			told <- x
			if strings.HasSuffix(x.path, "/abort") {
				s.say(failEvent("MessageAbortedError", `{"message":"Aborted"}`), idleEvent)
			}
		}
		return true
	}}
	o, err := p.run(ctx, t, agents.Turn{Prompt: "go"}, h)
	if !errors.Is(err, stop) || o.End != agents.EndInterrupted {
		t.Errorf("outcome = %+v, %v", o, err)
	}
	got := map[string]string{}
	for range 2 {
		x := <-told
		got[x.path] = x.body
	}
	if _, ok := got["/session/ses_main/abort"]; !ok || !strings.Contains(got["/permission/per_1/reply"], `"reject"`) {
		t.Errorf("the server was told %v, want a denial and an abort", got)
	}
}

func TestNeedsAWayIntoTheBox(t *testing.T) {
	t.Parallel()
	a, _ := agents.Lookup("opencode")
	if _, err := a.Run(t.Context(), agentstest.ScriptBox{}, agents.Turn{Prompt: "go"}, &agentstest.Recorder{}); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("error = %v", err)
	}
}

func TestPromptsOnceItsServersAreConnected(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	p := &playedServer{
		mcp:    []string{`{}`, `{"good":{"status":"connected"}}`, `{"good":{"status":"connected"},"bad":{"status":"failed","error":"no such program"}}`},
		script: func(s *playedServer) bool { return s.finish() },
	}
	o, err := playTurn(t, agents.Turn{Prompt: "go", MCP: []agents.Server{{Name: "good", Command: "x"}, {Name: "bad", Command: "y"}}}, h, p)
	if err != nil || o.End != agents.EndClean || len(p.mcp) != 0 {
		t.Errorf("outcome = %+v, %v, answers left %q", o, err, p.mcp)
	}
	if said := strings.Join(h.Texts(agents.KindSystemMessage), "|"); !strings.Contains(said, "bad is not connected: no such program") || strings.Contains(said, "good is") {
		t.Errorf("said %q", said)
	}
}
