package opencode_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
)

func TestReadsOnAfterWhatNobodyKnows(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	o := mustPlay(t, h, func(s *playedServer) bool {
		s.raw(": a comment\n\nevent: x\nid: 7\nretry: 5\n\n")
		s.raw("data: " + strings.Repeat("[", 100_000) + "\n\n")
		s.raw("data: not json\n\ndata: {\"type\":7}\n\ndata: null\n\n")
		s.raw("data: {\"type\":\"\xff\xfe\",\"properties\":{}}\n\n")
		s.raw("data: " + strings.Repeat("x", 17<<20) + "\n\n")
		s.say(`message.updated {"info":{"id":7,"role":"assistant"}}`, `message.part.updated {"part":{"id":{"a":1},"type":"text"}}`,
			`session.status {"sessionID":"ses_main","status":{"type":"odd"}}`, `permission.replied {}`, `session.idle {}`, `session.error {}`)
		return s.finish()
	})
	if o.End != agents.EndClean || o.Claim != "done" {
		t.Errorf("outcome = %+v, want clean", o)
	}
	if o.Unknown != 11 {
		t.Errorf("%d unknown frames, want 11: %q", o.Unknown, agentstest.Of[json.RawMessage](h))
	}
	if cut := agentstest.Of[agents.Truncated](h); len(cut) != 1 || cut[0].Bytes < 17<<20 {
		t.Errorf("truncated = %+v", cut)
	}
}

func TestKeepsTextThatArrivesInPieces(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	mustPlay(t, h, func(s *playedServer) bool {
		s.say(busyEvent, answerEvent)
		event := `data: {"type":"message.part.updated","properties":{"part":{"id":"prt_1","messageID":"msg_1","sessionID":"ses_main","type":"text","text":"möbius ✓","time":{"end":1}}}}` + "\r\n\r\n"
		for i := range len(event) {
			s.raw(event[i : i+1])
		}
		return s.finish()
	})
	if said := h.Texts(agents.KindAssistantMessage); !slices.Contains(said, "möbius ✓") {
		t.Errorf("messages = %q", said)
	}
}

func TestConnectsOnlyToAPort(t *testing.T) {
	t.Parallel()
	lines := []string{
		"opencode server listening on http://10.0.0.1:80", "opencode server listening on http://127.0.0.1:0", "opencode server listening on http://127.0.0.1:99999",
		"opencode server listening on http://127.0.0.1:80/x", " opencode server listening on http://127.0.0.1:80", "opencode server listening on http://127.0.0.1:4096",
		"opencode server listening on http://127.0.0.1:22",
	}
	o, err := playTurn(t, agents.Turn{Prompt: "go"}, &agentstest.Recorder{}, &playedServer{lines: lines, script: (*playedServer).finish})
	if err != nil || o.End != agents.EndClean {
		t.Errorf("outcome = %+v, %v", o, err)
	}
	if o.Unknown < 5 { // the last one may come after the end
		t.Errorf("%d unknown lines", o.Unknown)
	}
}

func TestDoesNotAskWhatItCannotAnswer(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	var told []post
	o := mustPlayWaiting(t, h, 200*time.Millisecond, func(s *playedServer) bool {
		s.say(busyEvent, answerEvent, askEvent("../../session", "bash", "1"), askEvent("", "bash", "1"), askEvent("per_1", "", "1"),
			`permission.asked {"id":7}`, `question.asked {"id":"que_/x","questions":[]}`, askEvent("per_ok", "bash", "1"))
		told = append(told, s.heard())
		return s.finish()
	})
	if len(h.Asked) != 1 || h.Asked[0].ID != "per_ok" || len(told) != 1 || told[0].path != "/permission/per_ok/reply" {
		t.Errorf("asked %+v, told %+v", h.Asked, told)
	}
	if o.Unknown != 5 {
		t.Errorf("%d unknown frames, want 5", o.Unknown)
	}
}

func TestAsksOnceWhatIsAskedTwice(t *testing.T) {
	t.Parallel()
	decide := make(chan struct{})
	h := &agentstest.Recorder{Decide: func(context.Context, agents.ApprovalRequest) agents.Decision {
		<-decide
		return agents.Decision{Allow: true}
	}}
	h.Watch = func(e agents.Event) {
		if e.Kind == agents.KindRaw {
			close(decide)
		}
	}
	var told post
	o := mustPlayWaiting(t, h, 200*time.Millisecond, func(s *playedServer) bool {
		s.say(busyEvent, answerEvent, askEvent("per_1", "bash", "1"), askEvent("per_1", "bash", "1"))
		told = s.heard()
		return s.finish()
	})
	if o.End != agents.EndClean || len(h.Asked) != 1 || !strings.Contains(told.body, "once") {
		t.Errorf("outcome = %+v, asked %+v, told %+v", o, h.Asked, told)
	}
}

func TestDeniesAfterWhatWasAllowed(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{Decide: func(_ context.Context, r agents.ApprovalRequest) agents.Decision {
		return agents.Decision{Allow: r.Action != agents.ActionEdit, Reason: "no edits"}
	}}
	var told []post
	o := mustPlay(t, h, func(s *playedServer) bool {
		s.say(busyEvent, answerEvent,
			callEvent("prt_1", "write", `{"status":"running","input":{"filePath":"/workspace/a","content":"a"}}`),
			callEvent("prt_2", "bash", `{"status":"running","input":{"command":"ls"}}`),
			askEvent("per_1", "edit", "prt_1"), askEvent("per_2", "bash", "prt_2"))
		told = append(told, s.heard(), s.heard())
		s.say(callEvent("prt_1", "write", `{"status":"error","error":"The user rejected permission to use this specific tool call with the following feedback: no edits"}`),
			callEvent("prt_2", "bash", `{"status":"completed","output":"a","metadata":{"output":"a","exit":0}}`))
		return s.finish()
	})
	if o.End != agents.EndClean {
		t.Errorf("outcome = %+v", o)
	}
	want := []post{{"/permission/per_2/reply", `{"reply":"once"}`}, {"/permission/per_1/reply", `{"message":"no edits","reply":"reject"}`}}
	if !slices.Equal(told, want) {
		t.Errorf("told %+v, want %+v", told, want)
	}
	results := h.Results(t)
	if r := results["bash ls"]; r.Status != agents.StatusOK || r.ExitCode == nil {
		t.Errorf("command = %+v", r)
	}
	if r := agentstest.Of[agents.ToolResult](h)[0]; r.Status != agents.StatusDenied {
		t.Errorf("edit = %+v", r)
	}
	for _, r := range h.Asked {
		if r.ToolID == "" || r.Action == agents.ActionCommand && r.Command != "ls" || r.Action == agents.ActionEdit && !slices.Equal(r.Paths, []string{"/workspace/a"}) {
			t.Errorf("asked %+v", r)
		}
	}
}

func TestDeniesACallThatAnotherOneWaitsFor(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{Decide: func(context.Context, agents.ApprovalRequest) agents.Decision { return agents.Decision{Reason: "no"} }}
	var told post
	o := mustPlayWaiting(t, h, 200*time.Millisecond, func(s *playedServer) bool {
		s.say(busyEvent, answerEvent, callEvent("prt_1", "edit", `{"status":"running","input":{}}`),
			callEvent("prt_2", "edit", `{"status":"running","input":{}}`), askEvent("per_1", "edit", "prt_1"))
		told = s.heard()
		s.say(callEvent("prt_1", "edit", `{"status":"error","error":"no"}`), callEvent("prt_2", "edit", `{"status":"completed"}`))
		return s.finish()
	})
	if o.End != agents.EndClean || told.path != "/permission/per_1/reply" || !strings.Contains(told.body, "reject") {
		t.Errorf("outcome = %+v, told %+v", o, told)
	}
}

func TestAsksWithWhatTheCallWasGivenAlsoWhereThatComesLater(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	o := mustPlay(t, h, func(s *playedServer) bool {
		s.say(busyEvent, answerEvent, askEvent("per_1", "srv_echo", "prt_1"), callEvent("prt_1", "srv_echo", `{"status":"running","input":{"text":"x"}}`))
		s.heard()
		s.say(callEvent("prt_1", "srv_echo", `{"status":"completed","output":"x"}`))
		return s.finish()
	})
	if o.End != agents.EndClean || len(h.Asked) != 1 || string(h.Asked[0].Input) != `{"text":"x"}` || h.Asked[0].ToolID != "prt_1" {
		t.Errorf("outcome = %+v, asked %+v", o, h.Asked)
	}
}

func TestStopsWhenSomebodyElseApproves(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{Decide: func(ctx context.Context, _ agents.ApprovalRequest) agents.Decision {
		<-ctx.Done()
		return agents.Decision{}
	}}
	o := mustPlay(t, h, func(s *playedServer) bool {
		s.say(busyEvent, answerEvent, askEvent("per_1", "bash", "1"), `permission.replied {"sessionID":"ses_main","requestID":"per_1","reply":"once"}`)
		return s.finish()
	})
	if o.End != agents.EndFailed || o.Code != "agent_failed" || !strings.Contains(o.Message, "nobody had decided") {
		t.Errorf("outcome = %+v", o)
	}
}

func TestForgetsARequestTheServerDenied(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{Decide: func(ctx context.Context, _ agents.ApprovalRequest) agents.Decision {
		<-ctx.Done()
		return agents.Decision{Allow: true}
	}}
	o := mustPlay(t, h, func(s *playedServer) bool {
		s.say(busyEvent, answerEvent, callEvent("prt_1", "bash", `{"status":"running","input":{"command":"ls"}}`), askEvent("per_1", "bash", "prt_1"),
			`permission.replied {"sessionID":"ses_main","requestID":"per_1","reply":"reject"}`, callEvent("prt_1", "bash", `{"status":"error","error":"odd words"}`))
		return s.finish()
	})
	if r := h.Results(t)["bash ls"]; o.End != agents.EndClean || r.Status != agents.StatusDenied {
		t.Errorf("outcome = %+v, result = %+v", o, r)
	}
}

func TestAnswersQuestionsInTheirOrder(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{Decide: func(_ context.Context, r agents.ApprovalRequest) agents.Decision {
		return agents.Decision{Allow: r.ID == "que_1", Answers: map[string][]string{"1": {"c", "d"}}}
	}}
	var told []post
	o := mustPlay(t, h, func(s *playedServer) bool {
		s.say(busyEvent, answerEvent,
			`question.asked {"id":"que_1","sessionID":"ses_main","questions":[{"question":"A?","options":[{"label":"a"}]},{"question":"B?","multiple":true,"options":[{"label":"c"},{"label":"d"}]}]}`)
		told = append(told, s.heard())
		s.say(`question.asked {"id":"que_2","sessionID":"ses_main","questions":[{"question":"A?"}]}`)
		told = append(told, s.heard())
		return s.finish()
	})
	want := []post{{"/question/que_1/reply", `{"answers":[[],["c","d"]]}`}, {"/question/que_2/reject", `{}`}}
	if o.End != agents.EndClean || !slices.Equal(told, want) {
		t.Errorf("outcome = %+v, told %+v, want %+v", o, told, want)
	}
	if q := h.Asked[0].Questions; len(q) != 2 || q[1].Text != "B?" || !q[1].Multiple || len(q[1].Options) != 2 {
		t.Errorf("questions = %+v", q)
	}
}

func TestNamesTheCallASubagentBelongsTo(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	o := mustPlay(t, h, func(s *playedServer) bool {
		s.say(busyEvent, answerEvent, `session.created {"sessionID":"ses_sub","info":{"id":"ses_sub","parentID":"ses_main"}}`,
			callEvent("prt_1", "task", `{"status":"running","input":{"prompt":"p"},"metadata":{"sessionId":"ses_sub"}}`),
			`message.updated {"sessionID":"ses_sub","info":{"id":"msg_s","role":"assistant","finish":"tool-calls"}}`,
			`message.part.updated {"part":{"id":"prt_s","messageID":"msg_s","sessionID":"ses_sub","type":"text","text":"sub","time":{"end":1}}}`,
			`session.idle {"sessionID":"ses_sub"}`,
			callEvent("prt_1", "task", `{"status":"completed","output":"sub"}`))
		return s.finish()
	})
	if o.End != agents.EndClean || o.Claim != "done" {
		t.Errorf("outcome = %+v", o)
	}
	if m := agentstest.Of[agents.Message](h); !slices.ContainsFunc(m, func(m agents.Message) bool { return m.Text == "sub" && m.Parent == "prt_1" }) {
		t.Errorf("messages = %+v", m)
	}
}

func FuzzOpencodeEvents(f *testing.F) {
	for _, e := range []string{
		busyEvent, idleEvent, textEvent("prt_1", "x"), callEvent("prt_1", "bash", `{"status":"running","input":{"command":"ls"}}`),
		callEvent("prt_1", "bash", `{"status":"completed","metadata":{"exit":null}}`), askEvent("per_1", "edit", "prt_1"),
		failEvent("APIError", `{"statusCode":"x"}`), `session.created {"info":{"id":"ses_x","parentID":"ses_main"}}`, `x [[[`,
	} {
		kind, properties, _ := strings.Cut(e, " ")
		f.Add(`{"type":"` + kind + `","properties":` + properties + `}`)
	}
	f.Fuzz(func(t *testing.T, event string) {
		h := &agentstest.Recorder{}
		event = strings.NewReplacer("\n", " ", "\r", " ").Replace(event)
		o := mustPlay(t, h, func(s *playedServer) bool {
			s.say(busyEvent, answerEvent)
			s.raw("data: " + event + "\n\n")
			return s.finish()
		})
		if o.End == "" {
			t.Errorf("outcome = %+v", o)
		}
		results := map[string]int{}
		for _, r := range agentstest.Of[agents.ToolResult](h) {
			results[r.ID]++
		}
		for _, c := range agentstest.Of[agents.ToolCall](h) {
			if results[c.ID] != 1 {
				t.Errorf("call %s has %d results", c.ID, results[c.ID])
			}
		}
	})
}
