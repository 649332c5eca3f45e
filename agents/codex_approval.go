package agents

import (
	"context"
	"encoding/json"

	"github.com/sourcegraph/jsonrpc2"
)

// The requests of the CLI that are answered; every other one is refused.
const (
	codexAskCommand  = "item/commandExecution/requestApproval"
	codexAskEdit     = "item/fileChange/requestApproval"
	codexAskMCP      = "mcpServer/elicitation/request"
	codexAskQuestion = "item/tool/requestUserInput"
)

// codexAsk is the parameters of these requests.
type codexAsk struct {
	Kind       string          `json:"kind"`
	ItemID     string          `json:"itemId"`
	ThreadID   string          `json:"threadId"`
	Command    string          `json:"command"`
	ServerName string          `json:"serverName"`
	Questions  []codexQuestion `json:"questions"`
	Meta       struct {
		Kind   string          `json:"codex_approval_kind"`
		Tool   string          `json:"tool_name"`
		Params json.RawMessage `json:"tool_params"`
	} `json:"_meta"`
}

// codexPending is what has to be known of a request when it is decided.
type codexPending struct {
	id     jsonrpc2.ID
	method string
	thread string
}

// request handles a request of the CLI. Every one gets an answer, as the CLI
// waits for one without limit.
func (c *codexTurn) request(ctx context.Context, f codexFrame, text []byte) {
	id, err := codexID(f.ID)
	if err != nil {
		c.strange(text)
		return
	}
	var ask codexAsk
	if decode(object(f.Params), &ask) != nil {
		c.strange(text)
		c.refuse(id, "unreadable request")
		return
	}
	r, refused := c.approval(f, ask)
	if refused == "" {
		r.ID = id.String()
		refused = c.ask(ctx, r.ID, r)
	}
	if refused != "" {
		c.strange(text)
		c.refuse(id, refused)
		return
	}
	c.pending[r.ID] = codexPending{id: id, method: f.Method, thread: ask.ThreadID}
}

// approval is what the host is asked, or why it is not.
func (c *codexTurn) approval(f codexFrame, ask codexAsk) (r ApprovalRequest, refused string) {
	r = ApprovalRequest{ToolID: ask.ItemID, Input: object(f.Params)}
	switch f.Method {
	case codexAskCommand:
		r.Tool, r.Action = "commandExecution", ActionCommand
		// Input for a command that runs is no command of its own: nothing that was
		// allowed by its name covers it.
		if ask.Kind == "" || ask.Kind == "command" {
			r.Command = codexScript(ask.Command)
		}
	case codexAskEdit:
		r.Tool, r.Action = "fileChange", ActionEdit
		r.Input, r.Paths = c.edits.of(ask.ItemID)
		if len(r.Paths) == 0 {
			return r, "it is not known what would be changed"
		}
	case codexAskMCP:
		if ask.Meta.Kind != "mcp_tool_call" || ask.ServerName == "" || ask.Meta.Tool == "" {
			return r, "MCP servers cannot ask here"
		}
		r.Tool, r.Action = codexMCPTool(ask.ServerName, ask.Meta.Tool), ActionMCP
		r.Input, r.ToolID = object(ask.Meta.Params), c.mcpCall(ask)
	case codexAskQuestion:
		r.Tool, r.Action = codexUserInput, ActionOther
		r.Questions = codexQuestions(ask.Questions, f.Params)
		c.beginQuestion(ask.ItemID, r)
	default:
		return r, "unsupported request"
	}
	return r, ""
}

// answer sends the decision about a request.
func (c *codexTurn) answer(q *asked, d Decision) {
	p, known := c.pending[q.key]
	if !known {
		return
	}
	delete(c.pending, q.key)
	if !d.Allow {
		if c.calls.has(q.request.ToolID) {
			c.reasons[q.request.ToolID] = d.Reason
		}
		c.explain(q, p, d)
	}
	verdict := map[bool]string{true: "accept", false: "decline"}[d.Allow]
	switch p.method {
	case codexAskMCP:
		c.reply(p.id, map[string]any{"action": verdict, "content": map[string]any{}, "_meta": nil})
	case codexAskQuestion:
		c.endQuestion(q, d)
		c.reply(p.id, map[string]any{"answers": codexAnswers(d)})
	default:
		c.reply(p.id, map[string]string{"decision": verdict})
	}
}

// explain tells the model why a call was denied, which a refusal has no room
// for: as words of the user, sent before the refusal, that go to the model
// together with the result of the call.
func (c *codexTurn) explain(q *asked, p codexPending, d Decision) {
	if c.stopping() || c.end.seen || p.thread != c.thread || c.turnID == "" {
		return
	}
	c.call(codexSteer+c.steers, "turn/steer", map[string]any{
		"threadId": c.thread, "expectedTurnId": c.turnID,
		"input": []map[string]string{{"type": "text", "text": "The call of " + q.request.Tool + " was denied: " + d.Reason}},
	})
	c.steers++
}

// mcpCall finds the call an MCP server's tool is asked for. The request does not
// name it.
func (c *codexTurn) mcpCall(ask codexAsk) string {
	return c.mcp[codexMCPTool(ask.ServerName, ask.Meta.Tool)]
}
