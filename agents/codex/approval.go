package codex

import (
	"context"
	"encoding/json"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// The requests of the CLI that are answered; every other one is refused.
const (
	askCommand  = "item/commandExecution/requestApproval"
	askEdit     = "item/fileChange/requestApproval"
	askMCP      = "mcpServer/elicitation/request"
	askQuestion = "item/tool/requestUserInput"
)

// askParams is the parameters of these requests.
type askParams struct {
	Kind       string         `json:"kind"`
	ItemID     string         `json:"itemId"`
	ThreadID   string         `json:"threadId"`
	Command    string         `json:"command"`
	ServerName string         `json:"serverName"`
	Questions  []userQuestion `json:"questions"`
	Meta       struct {
		Kind   string          `json:"codex_approval_kind"`
		Tool   string          `json:"tool_name"`
		Params json.RawMessage `json:"tool_params"`
	} `json:"_meta"`
}

// request handles a request of the CLI. Every one gets an answer, as the CLI
// waits for one without limit.
func (c *peer) request(ctx context.Context, f frame, text []byte) {
	id, err := readID(f.ID)
	if err != nil {
		c.EmitUnknown(text)
		return
	}
	var ask askParams
	if cli.Decode(cli.Object(f.Params), &ask) != nil {
		c.EmitUnknown(text)
		c.refuse(id, "unreadable request")
		return
	}
	r, refused := c.approval(f, ask)
	if refused == "" {
		r.ID = id.String()
		refused = c.Ask(ctx, r.ID, r)
	}
	if refused != "" {
		c.EmitUnknown(text)
		c.refuse(id, refused)
		return
	}
	c.pending[r.ID] = pendingAsk{id: id, method: f.Method, thread: ask.ThreadID}
}

// approval is what the host is asked, or why it is not.
func (c *peer) approval(f frame, ask askParams) (r agents.ApprovalRequest, refused string) {
	r = agents.ApprovalRequest{ToolID: ask.ItemID, Input: cli.Object(f.Params)}
	switch f.Method {
	case askCommand:
		r.Tool, r.Action = "commandExecution", agents.ActionCommand
		// Input for a command that runs is no command of its own: nothing that was
		// allowed by its name covers it.
		if ask.Kind == "" || ask.Kind == "command" {
			r.Command = innerScript(ask.Command)
		}
	case askEdit:
		r.Tool, r.Action = "fileChange", agents.ActionEdit
		r.Input, r.Paths = c.edits.of(ask.ItemID)
		if len(r.Paths) == 0 {
			return r, "it is not known what would be changed"
		}
	case askMCP:
		if ask.Meta.Kind != "mcp_tool_call" || ask.ServerName == "" || ask.Meta.Tool == "" {
			return r, "MCP servers cannot ask here"
		}
		r.Tool, r.Action = mcpTool(ask.ServerName, ask.Meta.Tool), agents.ActionMCP
		r.Input, r.ToolID = cli.Object(ask.Meta.Params), c.mcpCall(ask)
	case askQuestion:
		r.Tool, r.Action = questionTool, agents.ActionOther
		r.Questions = readQuestions(ask.Questions, f.Params)
		c.beginQuestion(ask.ItemID, r)
	default:
		return r, "unsupported request"
	}
	return r, ""
}

// Answer sends the decision about a request.
func (c *peer) Answer(q *cli.Asked, d agents.Decision) {
	p, known := c.pending[q.Key]
	if !known {
		return
	}
	delete(c.pending, q.Key)
	if !d.Allow {
		if c.Calls.Has(q.Request.ToolID) {
			c.reasons[q.Request.ToolID] = d.Reason
		}
		c.explain(q, p, d)
	}
	verdict := map[bool]string{true: "accept", false: "decline"}[d.Allow]
	switch p.method {
	case askMCP:
		c.reply(p.id, map[string]any{"action": verdict, "content": map[string]any{}, "_meta": nil})
	case askQuestion:
		c.endQuestion(q, d)
		c.reply(p.id, map[string]any{"answers": answerResult(d)})
	default:
		c.reply(p.id, map[string]string{"decision": verdict})
	}
}

// explain tells the model why a call was denied, which a refusal has no room
// for: as words of the user, sent before the refusal, that go to the model
// together with the result of the call.
func (c *peer) explain(q *cli.Asked, p pendingAsk, d agents.Decision) {
	if c.Stopping() || c.end.seen || p.thread != c.thread || c.turnID == "" {
		return
	}
	c.call(callSteer+c.steers, "turn/steer", map[string]any{
		"threadId": c.thread, "expectedTurnId": c.turnID,
		"input": []map[string]string{{"type": "text", "text": "The call of " + q.Request.Tool + " was denied: " + d.Reason}},
	})
	c.steers++
}

// mcpCall finds the call an MCP server's tool is asked for. The request does not
// name it.
func (c *peer) mcpCall(ask askParams) string {
	return c.mcp[mcpTool(ask.ServerName, ask.Meta.Tool)]
}
