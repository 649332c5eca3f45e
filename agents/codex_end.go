package agents

import (
	"encoding/json"
	"fmt"
	"net/http"

	"sandboxrun/sandbox"
)

// codexEnd collects how a turn ends.
type codexEnd struct {
	seen    bool          // turn/completed for this turn
	failure *codexFailure // what it said went wrong, or what did before it
	last    *codexFailure // the last error of the provider
	claim   string
	usage   Usage
}

// codexFailure is an error as Codex reports it.
type codexFailure struct {
	Message string          `json:"message"`
	Info    json.RawMessage `json:"codexErrorInfo"` // a word, or an object with one
	Details string          `json:"additionalDetails"`
}

// turnStarted learns the turn's id where the answer to turn/start comes later.
func (c *codexTurn) turnStarted(f codexFrame, text []byte) {
	var n struct {
		ThreadID string `json:"threadId"`
		Turn     struct {
			ID string `json:"id"`
		} `json:"turn"`
	}
	if err := decode(object(f.Params), &n); err != nil {
		c.strange(text)
		return
	}
	if n.ThreadID == c.thread && c.turnID == "" {
		c.turnID = n.Turn.ID
	}
}

// turnCompleted handles the end of a turn, which is the end of ours only when
// it says so.
func (c *codexTurn) turnCompleted(f codexFrame, text []byte) {
	var n struct {
		ThreadID string `json:"threadId"`
		Turn     struct {
			ID     string        `json:"id"`
			Status string        `json:"status"`
			Error  *codexFailure `json:"error"`
		} `json:"turn"`
	}
	if err := decode(object(f.Params), &n); err != nil {
		c.strange(text)
		return
	}
	if n.ThreadID != c.thread {
		return // a subagent's
	}
	if c.end.seen || n.Turn.ID == "" || n.Turn.ID != c.turnID {
		c.strange(text)
		return
	}
	c.end.seen = true
	switch {
	case n.Turn.Error != nil:
		c.end.failure = n.Turn.Error
	case n.Turn.Status != "completed":
		c.end.failure = &codexFailure{Message: fmt.Sprintf("the agent's turn ended as %q", n.Turn.Status)}
	}
	if c.end.failure == nil && !c.stopping() && c.calls.count() > 0 {
		c.held = true // see the doc comment of codex
		return
	}
	c.leaveNow()
}

// providerError handles a failed request to the model. A refused key does not
// get better by trying again.
func (c *codexTurn) providerError(f codexFrame, text []byte) {
	var n struct {
		ThreadID  string       `json:"threadId"`
		Error     codexFailure `json:"error"`
		WillRetry bool         `json:"willRetry"`
	}
	if err := decode(object(f.Params), &n); err != nil {
		c.strange(text)
		return
	}
	said := n.Error.text()
	if n.WillRetry {
		c.emit(KindSystemMessage, Message{Text: head(n.Error.Message+": "+said, maxWords), Code: n.Error.word(), Parent: c.parent(n.ThreadID)})
	} else {
		c.emit(KindErrorMessage, Message{Text: said, Code: n.Error.word(), Parent: c.parent(n.ThreadID)})
	}
	if n.ThreadID == c.thread || n.ThreadID == "" {
		c.end.last = &n.Error
	}
	if n.Error.code() == codeAuth {
		c.stop(stop{end: EndFailed, code: codeAuth, message: said})
	}
}

// tokens adds up the calls of the model: the total is the thread's, which may
// be older than the turn.
func (c *codexTurn) tokens(f codexFrame, text []byte) {
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
	if err := decode(object(f.Params), &n); err != nil {
		c.strange(text)
		return
	}
	l, u := n.Usage.Last, &c.end.usage
	u.InputTokens += max(l.Input-l.CacheRead-l.CacheWrite, 0)
	u.CacheReadTokens += max(l.CacheRead, 0)
	u.CacheWriteTokens += max(l.CacheWrite, 0)
	u.OutputTokens += max(l.Output, 0)
	u.Turns++
	c.emit(KindUsage, *u)
}

// outcome judges the turn once its process has ended with exit, or with err.
func (c *codexTurn) outcome(exit sandbox.Exit, err error, stderr string) Outcome {
	o := Outcome{SessionID: c.thread, Model: c.model, Version: c.version, Usage: c.end.usage, Unknown: c.unknown}
	if c.end.seen && c.end.failure == nil {
		o.Claim = head(c.end.claim, maxWords)
	}
	switch {
	case c.conversation.outcome(&o, err):
	case c.end.failure != nil:
		o.End, o.Code, o.Message = EndFailed, c.end.failure.code(), c.end.failure.text()
		if o.Code == codeFailed && c.end.last != nil {
			o.Code = c.end.last.code()
		}
	case c.end.seen:
		o.End = EndClean
	default:
		o.noEnd(exit, stderr)
	}
	o.Message = head(o.Message, maxWords)
	return o
}

// text is what went wrong, in Codex's words.
func (e *codexFailure) text() string {
	if e.Details != "" {
		return head(e.Details, maxWords) // the message says which attempt it was
	}
	return head(e.Message, maxWords)
}

// kind is Codex's word for the error and the provider's status, 0 without one.
func (e *codexFailure) kind() (word string, status int) {
	if json.Unmarshal(e.Info, &word) == nil {
		return head(word, 64), 0
	}
	var o map[string]struct {
		Status int `json:"httpStatusCode"`
	}
	if decode(object(e.Info), &o) != nil || len(o) != 1 {
		return "", 0
	}
	for name, v := range o {
		word, status = head(name, 64), v.Status
	}
	return word, status
}

func (e *codexFailure) word() string {
	w, _ := e.kind()
	return w
}

// code is the issue code of a failure.
func (e *codexFailure) code() string {
	switch word, status := e.kind(); {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, word == "unauthorized":
		return codeAuth
	case status == http.StatusTooManyRequests, status == http.StatusPaymentRequired,
		word == "usageLimitExceeded", word == "rateLimitExceeded", word == "sessionBudgetExceeded":
		return codeQuota
	}
	return codeFailed
}
