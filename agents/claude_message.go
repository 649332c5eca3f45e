package agents

// assistant handles one content block of the model, which is what an assistant
// frame carries. Its usage is frozen at the start and so not read.
func (c *claudeTurn) assistant(f claudeFrame, text []byte) {
	blocks, raws, err := claudeContent(f)
	if err != nil {
		c.strange(text)
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
			c.emit(KindAssistantMessage, Message{Text: b.Text, Parent: f.Parent})
		case b.Type == "thinking" && b.Thinking != "":
			c.emit(KindThinking, Message{Text: b.Thinking, Parent: f.Parent})
		case b.Type == "text", b.Type == "thinking", b.Type == "redacted_thinking":
			// Nothing to read.
		case b.Type == "tool_use" && c.beginTool(b):
			c.emit(KindToolCall, ToolCall{ID: b.ID, Tool: b.Name, Action: claudeAction(b.Name), Input: object(b.Input), Parent: f.Parent})
		default:
			c.strange(raws[i])
		}
	}
}

// apiError handles an error the CLI words as if the model had said it.
func (c *claudeTurn) apiError(f claudeFrame, blocks []claudeBlock) {
	said := claudeSaid(blocks)
	c.emit(KindErrorMessage, Message{Text: said, Code: f.Error, Parent: f.Parent})
	c.end.apiError = f.Error
	if claudeCode(f.APIErrorStatus, f.Error) == codeAuth {
		c.stop(stop{end: EndFailed, code: codeAuth, message: said})
	}
}

// user handles what the CLI tells the model: results of tools, and notes.
func (c *claudeTurn) user(f claudeFrame, text []byte) {
	blocks, raws, err := claudeContent(f)
	if err != nil {
		c.strange(text)
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
				c.strange(raws[i])
				continue
			}
			for _, o := range output {
				c.emit(KindCommandOutput, o)
			}
			c.emit(KindToolResult, result)
		case b.Type == "text" && b.Text == "":
		case b.Type == "text" && f.Parent != "" && !f.IsSynthetic:
			c.emit(KindUserMessage, Message{Text: b.Text, Parent: f.Parent})
		case b.Type == "text":
			c.emit(KindSystemMessage, Message{Text: b.Text, Parent: f.Parent})
		default:
			c.strange(raws[i])
		}
	}
}
