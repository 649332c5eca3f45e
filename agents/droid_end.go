package agents

import (
	"fmt"
	"strings"

	"sandboxrun/sandbox"
)

// droidDenials bounds how often the model is told of denials in one turn.
const droidDenials = 8

// droidDenial is a denial the model has not heard of.
type droidDenial struct {
	action  Action
	command string
	reason  string
}

// droidEnd collects how a turn ends.
type droidEnd struct {
	reason string // of the last agent_turn_completed
	failed string // why the turn ends without one
	said   string // the last error the CLI reported
	claim  string // the model's last words
	turns  int    // answers of the model
	total  Usage
}

// completed handles the end of a turn of the CLI, which is ours unless there is
// something left for it to do.
func (c *droidTurn) completed(n droidNote, text []byte) {
	if !c.ready || n.Reason == "" {
		c.strange(text)
		return
	}
	if c.state == turnClosing || c.state == turnKilled {
		return
	}
	c.end.usage(n.Tokens, n.Children)
	c.emit(KindUsage, c.end.total)
	c.unfinished()
	c.end.reason, c.held = n.Reason, false
	switch {
	case c.stopping():
		c.finish()
	case n.Reason == "completed" && len(c.denials) > 0 && c.told < droidDenials:
		c.tell()
	case n.Reason == "completed" && len(c.children) > 0:
		c.held = true
	default:
		c.finish()
	}
}

// tell lets the model know what was denied, which the CLI ended its turn for
// without asking it again.
func (c *droidTurn) tell() {
	var text strings.Builder
	text.WriteString("Not allowed, and so not done:\n")
	for _, d := range c.denials {
		what := string(d.action)
		if d.command != "" {
			what = "the command " + head(d.command, maxDroidID)
		}
		fmt.Fprintf(&text, "- %s: %s\n", what, head(d.reason, maxWords))
	}
	text.WriteString("Do not try it again. Go on with the task as far as it can be done without.")
	c.denials, c.end.reason = nil, ""
	c.told++
	c.emit(KindSystemMessage, Message{Text: text.String()})
	c.prompt(text.String())
}

// fail ends a turn that cannot be taken.
func (c *droidTurn) fail(message string) {
	if c.end.failed == "" {
		c.end.failed = message
	}
	c.finish()
}

// usage adds up the CLI's turns, each of which counts for itself.
func (e *droidEnd) usage(list ...droidTokens) {
	for _, t := range list {
		e.total.InputTokens += t.Input
		e.total.OutputTokens += t.Output
		e.total.CacheReadTokens += t.CacheRead
		e.total.CacheWriteTokens += t.CacheWrite
	}
	e.total.Turns = e.turns
}

// outcome judges the turn once its process has ended with exit, or with err.
func (c *droidTurn) outcome(exit sandbox.Exit, err error, stderr string) Outcome {
	c.unfinished()
	o := Outcome{SessionID: c.session, Version: c.version, Usage: c.end.total, Unknown: c.unknown}
	if c.ready {
		o.Model = droidModelOf(c.turn).Model
	}
	clean := c.end.reason == "completed"
	if clean {
		o.Claim = c.end.claim
	}
	switch {
	case c.conversation.outcome(&o, err):
	case c.end.failed != "":
		o.End, o.Code, o.Message = EndFailed, codeFailed, c.end.failed
	case c.end.reason != "" && !clean:
		o.End, o.Code, o.Message = EndFailed, droidCode(c.end.reason), c.end.message()
	case clean && (c.left > 0 || c.state == turnRunning):
		o.End, o.Code = EndFailed, codeNoResult
		o.Message = fmt.Sprintf("the agent left with %d tool calls and %d subagents open", c.left, len(c.children))
	case clean:
		o.End = EndClean
	default:
		o.noEnd(exit, stderr)
	}
	o.Message = head(o.Message, maxWords)
	return o
}

// message is what went wrong, in the CLI's words where it has some.
func (e *droidEnd) message() string {
	if e.said != "" {
		return e.said
	}
	return fmt.Sprintf("the agent's turn ended as %q", e.reason)
}

// droidCode is the issue code of a reason other than "completed".
func droidCode(reason string) string {
	switch reason {
	case "model_authentication_failed":
		return codeAuth
	case "model_rate_limited", "model_usage_exhausted":
		return codeQuota
	}
	return codeFailed
}
