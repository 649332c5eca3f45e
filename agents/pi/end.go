package pi

import (
	"fmt"
	"regexp"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/sandbox"
)

// How answers of the model end, of which only the first ends a turn well.
const (
	stopDone   = "stop"
	stopLength = "length"
	stopError  = "error"
)

// ending collects how a turn ends.
type ending struct {
	settled bool   // the CLI has said that it will not go on
	reason  string // of the last answer
	said    string // what was wrong with it
	failed  string // why the turn ends without one
	claim   string // the model's last words
	total   agents.Usage
}

// answered takes an answer of the model, whole or failed.
func (e *ending) answered(m message) {
	e.reason, e.said = m.StopReason, cli.Head(m.Error, cli.MaxWords)
	u := m.Usage
	e.total.InputTokens += u.Input
	e.total.OutputTokens += u.Output
	e.total.CacheReadTokens += u.CacheRead
	e.total.CacheWriteTokens += u.CacheWrite
	e.total.CostUSD += u.Cost.Total
	if m.StopReason != stopError {
		e.total.Turns++
	}
}

// settled handles the end of the CLI's work.
func (c *peer) settled(text []byte) {
	if !c.ready {
		c.EmitUnknown(text)
		return
	}
	if c.Closing() || c.Killed() {
		return
	}
	if c.partial != "" {
		c.Emit(agents.KindAssistantMessage, agents.Message{Text: c.partial})
		c.partial = ""
	}
	c.end.settled = true
	c.Emit(agents.KindUsage, c.end.total)
	c.Finish()
}

// fail ends a turn that cannot be taken.
func (c *peer) fail(why string) {
	if c.end.failed == "" {
		c.end.failed = why
	}
	c.Finish()
}

// outcome judges the turn once its process has ended with exit, or with err.
func (c *peer) outcome(exit sandbox.Exit, err error, stderr string) agents.Outcome {
	o := agents.Outcome{SessionID: c.session, Version: c.version, Model: c.model, Usage: c.end.total, Unknown: c.Unknown}
	clean := c.end.settled && c.end.reason == stopDone
	if clean {
		o.Claim = c.end.claim
	}
	switch {
	case c.Conversation.Judge(&o, err):
	case c.end.failed != "":
		o.End, o.Code, o.Message = agents.EndFailed, agents.CodeFailed, c.end.failed
	case c.end.settled && !clean:
		o.End, o.Code, o.Message = agents.EndFailed, c.end.issueCode(), c.end.message()
	case clean && c.Unanswered > 0:
		o.End, o.Code = agents.EndFailed, agents.CodeNoResult
		o.Message = fmt.Sprintf("the agent left with %d tool calls open", c.Unanswered)
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
	switch {
	case e.said != "":
		return e.said
	case e.reason == stopLength:
		return "the model's answer was cut at its limit of tokens"
	case e.reason == "":
		return "the agent ended its turn without an answer of the model"
	}
	return fmt.Sprintf("the model's last answer ended as %q", e.reason)
}

// statusPattern finds the HTTP status in what the CLI says of a failed request:
// at its start, behind a name, or in the answer of Google's API.
var statusPattern = regexp.MustCompile(`^(?:[A-Za-z ]{1,32}\()?(\d{3})\b|^\{"error":\{"code":(\d{3})\b`)

// issueCode is the issue code of a turn whose last answer failed.
func (e *ending) issueCode() string {
	if m := statusPattern.FindStringSubmatch(e.said); m != nil && e.reason == stopError {
		switch m[1] + m[2] {
		case "401", "403":
			return agents.CodeAuth
		case "402", "429":
			return agents.CodeQuota
		}
	}
	return agents.CodeFailed
}
