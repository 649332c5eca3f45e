package codex_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
	"sandboxrun/agents/cli"
)

// handshake plays the app server until it has a thread.
func handshake(c *agentstest.ScriptedCLI) {
	c.Hear()
	c.Say(`{"id":1,"result":{"userAgent":"sandboxrun/9.9.9 (Debian)"}}`)
	c.Hear()
	c.Hear()
	c.Say(`{"id":2,"result":{"thread":{"id":"T"},"model":"m-1"}}`)
}

func server(name, status, problem string) string {
	return noteFrame("mcpServer/startupStatus/updated", `{"name":"`+name+`","status":"`+status+`","error":`+problem+`}`)
}

func TestBeginsOnceItsServersAreConnected(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	var order []string
	o := playTurn(t, h, agents.Turn{MCP: []agents.Server{{Name: "good", Command: "x"}, {Name: "bad", Command: "y"}}}, func(c *agentstest.ScriptedCLI) int {
		handshake(c)
		for _, frame := range []string{server("good", "starting", "null"), server("bad", "starting", "null"), server("bad", "failed", `"no such program"`), server("good", "ready", "null")} {
			order = append(order, "status")
			c.Say(frame)
		}
		m := c.Hear()
		method, _ := m["method"].(string)
		order = append(order, method)
		c.Say(`{"id":3,"result":{"turn":{"id":"U"}}}`, doneFrame)
		return c.Drain()
	})
	if o.End != agents.EndClean || order[len(order)-1] != "turn/start" {
		t.Errorf("outcome = %+v after %q", o, order)
	}
	if said := h.Texts(agents.KindSystemMessage); !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, "bad is not connected: no such program") }) {
		t.Errorf("said %q", said)
	}
}

func TestBeginsWithoutAServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &agentstest.Recorder{}
		start := time.Now()
		var waited time.Duration
		o := playTurn(t, h, agents.Turn{MCP: []agents.Server{{Name: "slow", Command: "x"}}}, func(c *agentstest.ScriptedCLI) int {
			handshake(c)
			c.Hear()
			waited = time.Since(start)
			c.Say(`{"id":3,"result":{"turn":{"id":"U"}}}`, doneFrame)
			return c.Drain()
		})
		if o.End != agents.EndClean || waited != cli.ServerLimit {
			t.Errorf("outcome = %+v after %s", o, waited)
		}
		if said := strings.Join(h.Texts(agents.KindSystemMessage), "|"); !strings.Contains(said, "slow is not connected") {
			t.Errorf("said %q", said)
		}
	})
}
