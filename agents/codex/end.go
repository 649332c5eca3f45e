package codex

import (
	"encoding/json"
	"fmt"
	"net/http"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/sandbox"
)

// turnStarted learns the turn's id where the answer to turn/start comes later.
func (c *peer) turnStarted(f frame, text []byte) {
	var n struct {
		ThreadID string `json:"threadId"`
		Turn     struct {
			ID string `json:"id"`
		} `json:"turn"`
	}
	if err := cli.Decode(cli.Object(f.Params), &n); err != nil {
		c.EmitUnknown(text)
		return
	}
	if n.ThreadID == c.thread && c.turnID == "" {
		c.turnID = n.Turn.ID
	}
}

// turnCompleted handles the end of a turn, which is the end of ours only when
// it says so.
func (c *peer) turnCompleted(f frame, text []byte) {
	var n struct {
		ThreadID string `json:"threadId"`
		Turn     struct {
			ID     string     `json:"id"`
			Status string     `json:"status"`
			Error  *turnError `json:"error"`
		} `json:"turn"`
	}
	if err := cli.Decode(cli.Object(f.Params), &n); err != nil {
		c.EmitUnknown(text)
		return
	}
	if n.ThreadID != c.thread {
		return // a subagent's
	}
	if c.end.seen || n.Turn.ID == "" || n.Turn.ID != c.turnID {
		c.EmitUnknown(text)
		return
	}
	c.end.seen = true
	switch {
	case n.Turn.Error != nil:
		c.end.failure = n.Turn.Error
	case n.Turn.Status != "completed":
		c.end.failure = &turnError{Message: fmt.Sprintf("the agent's turn ended as %q", n.Turn.Status)}
	}
	if c.end.failure == nil && !c.Stopping() && c.Calls.Count() > 0 {
		c.held = true // see the doc comment of codex
		return
	}
	c.leaveNow()
}

// providerError handles a failed request to the model. A refused key does not
// get better by trying again.
func (c *peer) providerError(f frame, text []byte) {
	var n struct {
		ThreadID  string    `json:"threadId"`
		Error     turnError `json:"error"`
		WillRetry bool      `json:"willRetry"`
	}
	if err := cli.Decode(cli.Object(f.Params), &n); err != nil {
		c.EmitUnknown(text)
		return
	}
	said := n.Error.text()
	if n.WillRetry {
		c.Emit(agents.KindSystemMessage, agents.Message{Text: cli.Head(n.Error.Message+": "+said, cli.MaxWords), Code: n.Error.word(), Parent: c.parent(n.ThreadID)})
	} else {
		c.Emit(agents.KindErrorMessage, agents.Message{Text: said, Code: n.Error.word(), Parent: c.parent(n.ThreadID)})
	}
	if n.ThreadID == c.thread || n.ThreadID == "" {
		c.end.last = &n.Error
	}
	if n.Error.code() == agents.CodeAuth {
		c.Stop(cli.StopReason{End: agents.EndFailed, Code: agents.CodeAuth, Message: said})
	}
}

// tokens adds up the calls of the model: the total is the thread's, which may
// be older than the turn.
func (c *peer) tokens(f frame, text []byte) {
	var n struct {
		Usage struct {
			Last struct {
				Input      int64 `json:"inputTokens"` // with what came from the cache
				CacheRead  int64 `json:"cachedInputTokens"`
				CacheWrite int64 `json:"cacheWriteInputTokens"`
				Output     int64 `json:"outputTokens"`
			} `json:"last"`
		} `json:"tokenUsage"`
	}
	if err := cli.Decode(cli.Object(f.Params), &n); err != nil {
		c.EmitUnknown(text)
		return
	}
	l, u := n.Usage.Last, &c.end.usage
	u.InputTokens += max(l.Input-l.CacheRead-l.CacheWrite, 0)
	u.CacheReadTokens += max(l.CacheRead, 0)
	u.CacheWriteTokens += max(l.CacheWrite, 0)
	u.OutputTokens += max(l.Output, 0)
	u.Turns++
	c.Emit(agents.KindUsage, *u)
}

// outcome judges the turn once its process has ended with exit, or with err.
func (c *peer) outcome(exit sandbox.Exit, err error, stderr string) agents.Outcome {
	o := agents.Outcome{SessionID: c.thread, Model: c.model, Version: c.version, Usage: c.end.usage, Unknown: c.Unknown}
	if c.end.seen && c.end.failure == nil {
		o.Claim = cli.Head(c.end.claim, cli.MaxWords)
	}
	switch {
	case c.Conversation.Judge(&o, err):
	case c.end.failure != nil:
		o.End, o.Code, o.Message = agents.EndFailed, c.end.failure.code(), c.end.failure.text()
		if o.Code == agents.CodeFailed && c.end.last != nil {
			o.Code = c.end.last.code()
		}
	case c.end.seen:
		o.End = agents.EndClean
	default:
		cli.NoEnd(&o, exit, stderr)
	}
	o.Message = cli.Head(o.Message, cli.MaxWords)
	return o
}

// text is what went wrong, in Codex's words.
func (e *turnError) text() string {
	if e.Details != "" {
		return cli.Head(e.Details, cli.MaxWords) // the message says which attempt it was
	}
	return cli.Head(e.Message, cli.MaxWords)
}

// kind is Codex's word for the error and the provider's status, 0 without one.
func (e *turnError) kind() (word string, status int) {
	if json.Unmarshal(e.Info, &word) == nil {
		return cli.Head(word, 64), 0
	}
	var o map[string]struct {
		Status int `json:"httpStatusCode"`
	}
	if cli.Decode(cli.Object(e.Info), &o) != nil || len(o) != 1 {
		return "", 0
	}
	for name, v := range o {
		word, status = cli.Head(name, 64), v.Status
	}
	return word, status
}

func (e *turnError) word() string {
	w, _ := e.kind()
	return w
}

// code is the issue code of a failure.
func (e *turnError) code() string {
	switch word, status := e.kind(); {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, word == "unauthorized":
		return agents.CodeAuth
	case status == http.StatusTooManyRequests, status == http.StatusPaymentRequired,
		word == "usageLimitExceeded", word == "rateLimitExceeded", word == "sessionBudgetExceeded":
		return agents.CodeQuota
	}
	return agents.CodeFailed
}
