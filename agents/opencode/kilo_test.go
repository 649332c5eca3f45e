package opencode_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
)

// shortWait is the waits that end by the clock, where they are to end.
const shortWait = 20 * time.Millisecond

func mustPlayKilo(t *testing.T, turn agents.Turn, script func(s *playedServer) bool) (agents.Outcome, *playedServer) {
	t.Helper()
	turn.Prompt, turn.Model = "go", "m-1"
	p := &playedServer{agent: "KILO_CODE", wait: shortWait, script: script}
	o, err := playTurn(t, turn, &agentstest.Recorder{}, p)
	if err != nil {
		t.Fatalf("run: %v (%+v)", err, o)
	}
	return o, p
}

// offlineEvent is what Kilo Code says when it waits for the network.
const offlineEvent = `session.network.asked {"id":"que_net","sessionID":"ses_main","message":"Connection refused","restored":false}`

// brokenEvent is the error of an answer that broke off, and closedEvent the last
// word about its prompt.
const (
	brokenEvent = `session.error {"sessionID":"ses_main","error":{"name":"APIError","data":{"message":"Connection reset by server","isRetryable":true}}}`
	closedEvent = `session.turn.close {"sessionID":"ses_main","reason":"error"}`
)

func TestKiloGoesOnWithoutTheWorld(t *testing.T) {
	t.Parallel()
	o, _ := mustPlayKilo(t, agents.Turn{}, func(s *playedServer) bool {
		s.say(busyEvent, answerEvent, offlineEvent)
		if told := s.heard(); told.path != "/network/que_net/reply" {
			t.Errorf("told %+v", told)
		}
		return s.finish()
	})
	if o.End != agents.EndClean || o.Claim != "done" || o.Unknown != 0 {
		t.Errorf("outcome = %+v", o)
	}
}

func TestKiloGivesUpWhereTheProviderCannotBeReached(t *testing.T) {
	t.Parallel()
	o, _ := mustPlayKilo(t, agents.Turn{}, func(s *playedServer) bool {
		s.say(busyEvent, answerEvent)
		for range 4 {
			s.say(offlineEvent)
		}
		return true
	})
	if o.End != agents.EndFailed || o.Code != "agent_failed" || !strings.Contains(o.Message, "broke 4 times: Connection refused") {
		t.Errorf("outcome = %+v", o)
	}
}

func TestKiloPromptsAgainAfterAnAnswerThatBrokeOff(t *testing.T) {
	t.Parallel()
	prompted := post{}
	o, _ := mustPlayKilo(t, agents.Turn{}, func(s *playedServer) bool {
		// Rest comes twice after an error, and news of the answer in between.
		s.say(busyEvent, answerEvent, brokenEvent, idleEvent,
			`message.updated {"sessionID":"ses_main","info":{"id":"msg_1","role":"assistant","error":{"name":"APIError","data":{"message":"Connection reset by server","isRetryable":true}}}}`,
			idleEvent, closedEvent)
		prompted = s.heard()
		s.say(busyEvent, strings.ReplaceAll(answerEvent, "msg_1", "msg_2"), strings.ReplaceAll(textEvent("prt_2", "done"), "msg_1", "msg_2"),
			strings.ReplaceAll(stopEvent, "msg_1", "msg_2"), idleEvent)
		return true
	})
	if prompted.path != "/session/ses_main/prompt_async" || !strings.Contains(prompted.body, "Go on with the task.") {
		t.Errorf("told %+v, want another prompt", prompted)
	}
	if o.End != agents.EndClean || o.Claim != "done" {
		t.Errorf("outcome = %+v", o)
	}
}

func TestKiloGivesUpWhereEveryAnswerBreaksOff(t *testing.T) {
	t.Parallel()
	o, _ := mustPlayKilo(t, agents.Turn{}, func(s *playedServer) bool {
		for range 4 {
			s.say(busyEvent, answerEvent, brokenEvent, idleEvent, idleEvent, closedEvent)
		}
		return true
	})
	if o.End != agents.EndFailed || o.Code != "agent_failed" || !strings.Contains(o.Message, "broke 4 times") {
		t.Errorf("outcome = %+v", o)
	}
}

// The rules of single agents are over those of the configuration: without their
// own, those of the program and of a mode of the repository would count.
func TestKiloAsksInEveryAgentThatCanWork(t *testing.T) {
	t.Parallel()
	for _, readOnly := range []bool{false, true} {
		_, p := mustPlayKilo(t, agents.Turn{ReadOnly: readOnly}, (*playedServer).finish)
		var config struct {
			Agent map[string]struct {
				Permission map[string]string `json:"permission"`
				Disable    bool              `json:"disable"`
			} `json:"agent"`
		}
		for _, pair := range p.env {
			if text, ok := strings.CutPrefix(pair, "KILO_CONFIG_CONTENT="); ok {
				if err := json.Unmarshal([]byte(text), &config); err != nil {
					t.Fatal(err)
				}
			}
		}
		edit := "ask"
		if readOnly {
			edit = "deny"
		}
		for _, name := range []string{"code", "general"} {
			if rules := config.Agent[name].Permission; rules["*"] != "ask" || rules["bash"] != "ask" || rules["mcp"] != "ask" || rules["edit"] != edit {
				t.Errorf("read-only %t: rules of %s are %v", readOnly, name, rules)
			}
		}
		if !config.Agent["explore"].Disable {
			t.Errorf("explore, which lets commands run unasked, is on")
		}
	}
}
