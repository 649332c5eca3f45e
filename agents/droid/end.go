package droid

import (
	"fmt"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/sandbox"
)

// maxDenials bounds how often denials are passed on to the model in one turn.
const maxDenials = 8

// completed handles the end of a turn of the CLI, which is ours unless there is
// something left for it to do.
func (c *peer) completed(n notification, text []byte) {
	if !c.ready || n.Reason == "" {
		c.EmitUnknown(text)
		return
	}
	if c.Closing() || c.Killed() {
		return
	}
	c.end.usage(n.Tokens, n.Children)
	c.Emit(agents.KindUsage, c.end.total)
	c.unfinished()
	c.end.reason, c.held = n.Reason, false
	switch {
	case c.Stopping():
		c.Finish()
	case n.Reason == "completed" && len(c.denials) > 0 && c.told < maxDenials:
		c.tell()
	case n.Reason == "completed" && len(c.children) > 0:
		c.held = true
	default:
		c.Finish()
	}
}

// tell lets the model know what was denied, which the CLI ended its turn for
// without asking it again.
func (c *peer) tell() {
	var text strings.Builder
	text.WriteString("Not allowed, and so not done:\n")
	for _, d := range c.denials {
		what := string(d.action)
		if d.command != "" {
			what = "the command " + cli.Head(d.command, maxID)
		}
		fmt.Fprintf(&text, "- %s: %s\n", what, cli.Head(d.reason, cli.MaxWords))
	}
	text.WriteString("Do not try it again. Go on with the task as far as it can be done without.")
	c.denials, c.end.reason = nil, ""
	c.told++
	c.Emit(agents.KindSystemMessage, agents.Message{Text: text.String()})
	c.prompt(text.String())
}

// usage adds up the CLI's turns, each of which counts for itself.
func (e *ending) usage(list ...tokens) {
	for _, t := range list {
		e.total.InputTokens += t.Input
		e.total.OutputTokens += t.Output
		e.total.CacheReadTokens += t.CacheRead
		e.total.CacheWriteTokens += t.CacheWrite
	}
	e.total.Turns = e.turns
}

// outcome judges the turn once its process has ended with exit, or with err.
func (c *peer) outcome(exit sandbox.Exit, err error, stderr string) agents.Outcome {
	c.unfinished()
	o := agents.Outcome{SessionID: c.session, Version: c.version, Usage: c.end.total, Unknown: c.Unknown}
	if c.ready {
		o.Model = modelOf(c.Turn).Model
	}
	clean := c.end.reason == "completed"
	if clean {
		o.Claim = c.end.claim
	}
	switch {
	case c.Conversation.Judge(&o, err):
	case c.end.failed != "":
		o.End, o.Code, o.Message = agents.EndFailed, agents.CodeFailed, c.end.failed
	case c.end.reason != "" && !clean:
		o.End, o.Code, o.Message = agents.EndFailed, issueCode(c.end.reason), c.end.message()
	case clean && (c.Unanswered > 0 || c.Running()):
		o.End, o.Code = agents.EndFailed, agents.CodeNoResult
		o.Message = fmt.Sprintf("the agent left with %d tool calls and %d subagents open", c.Unanswered, len(c.children))
	case clean:
		o.End = agents.EndClean
	default:
		cli.NoEnd(&o, exit, stderr)
	}
	o.Message = cli.Head(o.Message, cli.MaxWords)
	return o
}

// message is what went wrong, in the CLI's words where it has some.
func (e *ending) message() string {
	if e.said != "" {
		return e.said
	}
	return fmt.Sprintf("the agent's turn ended as %q", e.reason)
}

// issueCode is the issue code of a reason other than "completed".
func issueCode(reason string) string {
	switch reason {
	case "model_authentication_failed":
		return agents.CodeAuth
	case "model_rate_limited", "model_usage_exhausted":
		return agents.CodeQuota
	}
	return agents.CodeFailed
}
