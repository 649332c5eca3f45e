package claude

import (
	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// assistant handles one content block of the model, which is what an assistant
// frame carries. Its usage is frozen at the start and so not read.
func (c *peer) assistant(f frame, text []byte) {
	blocks, raws, err := readContent(f)
	if err != nil {
		c.EmitUnknown(text)
		return
	}
	if f.APIError {
		c.apiError(f, blocks)
		return
	}
	if f.Parent == "" {
		c.goesOn()
	}
	for i, b := range blocks {
		switch {
		case b.Type == "text" && b.Text != "":
			c.Emit(agents.KindAssistantMessage, agents.Message{Text: b.Text, Parent: f.Parent})
		case b.Type == "thinking" && b.Thinking != "":
			c.Emit(agents.KindThinking, agents.Message{Text: b.Thinking, Parent: f.Parent})
		case b.Type == "text", b.Type == "thinking", b.Type == "redacted_thinking":
			// Nothing to read.
		case b.Type == "tool_use" && c.beginTool(b):
			c.Emit(agents.KindToolCall, agents.ToolCall{ID: b.ID, Tool: b.Name, Action: actionOf(b.Name), Input: cli.Object(b.Input), Parent: f.Parent})
		default:
			c.EmitUnknown(raws[i])
		}
	}
}

// apiError handles an error the CLI words as if the model had said it.
func (c *peer) apiError(f frame, blocks []block) {
	said := blocksText(blocks)
	c.Emit(agents.KindErrorMessage, agents.Message{Text: said, Code: f.Error, Parent: f.Parent})
	c.end.apiError = f.Error
	if issueCode(f.APIErrorStatus, f.Error) == agents.CodeAuth {
		c.Stop(cli.StopReason{End: agents.EndFailed, Code: agents.CodeAuth, Message: said})
	}
}

// user handles what the CLI tells the model: results of tools, and notes.
func (c *peer) user(f frame, text []byte) {
	blocks, raws, err := readContent(f)
	if err != nil {
		c.EmitUnknown(text)
		return
	}
	if f.Parent == "" {
		c.goesOn()
	}
	for i, b := range blocks {
		switch {
		case b.Type == "tool_result":
			result, output, known := c.finishTool(b, f)
			if !known {
				c.EmitUnknown(raws[i])
				continue
			}
			for _, o := range output {
				c.Emit(agents.KindCommandOutput, o)
			}
			c.Emit(agents.KindToolResult, result)
		case b.Type == "text" && b.Text == "":
		case b.Type == "text" && f.Parent != "" && !f.IsSynthetic:
			c.Emit(agents.KindUserMessage, agents.Message{Text: b.Text, Parent: f.Parent})
		case b.Type == "text":
			c.Emit(agents.KindSystemMessage, agents.Message{Text: b.Text, Parent: f.Parent})
		default:
			c.EmitUnknown(raws[i])
		}
	}
}

// goesOn notes that the turn goes on: a result that was held back was not its end.
func (c *peer) goesOn() {
	if c.held {
		c.held = false
		c.end.result = nil
	}
}
