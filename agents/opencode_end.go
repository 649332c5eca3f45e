package agents

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"sandboxrun/sandbox"
)

const (
	// opencodeRetries is how often a failed request may be repeated after a wait
	// of any length; opencodeLong is what the waits after that must stay below.
	opencodeRetries = 3
	opencodeLong    = 5 * time.Second
)

// opencodeEnd collects how a turn ends.
type opencodeEnd struct {
	began  bool           // the session was busy with the prompt
	over   bool           // and is not any more
	err    *opencodeError // the last one, if the model did not speak afterwards
	lost   error          // of the connection
	finish string         // how the last message of the model ended
	words  string         // of that message
	from   string         // its id
	total  Usage
	clock  opencodeClock
}

// opencodeError is an error of a session.
type opencodeError struct {
	Name string `json:"name"`
	Data struct {
		Message string `json:"message"`
		Status  int    `json:"statusCode"`
	} `json:"data"`
}

// speaks notes that the model begins another message.
func (e *opencodeEnd) speaks() { e.err, e.finish = nil, "" }

// said collects the text of one message.
func (e *opencodeEnd) said(message, text string) {
	if e.from != message {
		e.from, e.words = message, ""
	}
	e.words = head(e.words+text, maxWords)
}

func (e *opencodeEnd) usage(p opencodePart) {
	e.total.InputTokens += p.Tokens.Input
	e.total.OutputTokens += p.Tokens.Output + p.Tokens.Reasoning
	e.total.CacheReadTokens += p.Tokens.Cache.Read
	e.total.CacheWriteTokens += p.Tokens.Cache.Write
	e.total.Turns++
	e.total.CostUSD += p.Cost
}

// status handles the state of a session, retries of requests included.
func (t *opencodeTurn) status(properties json.RawMessage) bool {
	var p struct {
		Session string `json:"sessionID"`
		Status  struct {
			Type    string `json:"type"`
			Attempt int    `json:"attempt"`
			Message string `json:"message"`
			Next    int64  `json:"next"` // Unix milliseconds
		} `json:"status"`
	}
	if decode(properties, &p) != nil {
		return false
	}
	switch p.Status.Type {
	case "busy":
		t.end.began = t.end.began || p.Session == t.session
		return true
	case "idle":
		return true // session.idle follows
	case "retry":
		t.retry(p.Status.Attempt, p.Status.Message, t.end.clock.until(p.Status.Next))
		return true
	}
	return false
}

// retry handles the notice of a failed request. It has the provider's words
// only, not its status, which comes when the CLI gives up.
func (t *opencodeTurn) retry(attempt int, message string, wait time.Duration) {
	message = head(message, maxWords)
	t.emit(KindSystemMessage, Message{Text: fmt.Sprintf("the provider failed (%s): retry %d", message, attempt)})
	if attempt > opencodeRetries && wait > opencodeLong || wait > maxPause {
		t.stop(stop{end: EndFailed, code: opencodeCode(0, message), message: fmt.Sprintf("the provider failed %d times: %s", attempt, message)})
		return
	}
	t.pause = max(wait, 0)
}

// opencodeClock is the clock of the box as its messages tell it: that need not
// be ours.
type opencodeClock struct {
	told int64 // Unix milliseconds
	at   time.Time
}

// tell notes what time it is there.
func (c *opencodeClock) tell(ms int64) {
	if ms > c.told {
		c.told, c.at = ms, time.Now()
	}
}

// until is how far away a time there is.
func (c *opencodeClock) until(ms int64) time.Duration {
	if c.at.IsZero() {
		return time.Until(time.UnixMilli(ms))
	}
	return time.UnixMilli(ms).Sub(time.UnixMilli(c.told)) - time.Since(c.at)
}

// idle handles the end of what a session does. After an error it comes twice.
func (t *opencodeTurn) idle(properties json.RawMessage) bool {
	var p struct {
		Session string `json:"sessionID"`
	}
	if decode(properties, &p) != nil || p.Session == "" {
		return false
	}
	if p.Session != t.session || t.end.over || !t.end.began && t.end.err == nil {
		return true
	}
	t.end.over = true
	close(t.quiet)
	t.finish()
	return true
}

// failed handles an error of a session, or of none.
func (t *opencodeTurn) failed(properties json.RawMessage) bool {
	var p struct {
		Session string        `json:"sessionID"`
		Error   opencodeError `json:"error"`
	}
	if decode(properties, &p) != nil || p.Error.Name == "" {
		return false
	}
	if t.stopping() && p.Error.Name == "MessageAbortedError" {
		return true // our abort
	}
	t.emit(KindErrorMessage, Message{Text: p.Error.message(), Code: p.Error.Name, Parent: t.log.children[p.Session]})
	if t.end.over || p.Session != t.session && (p.Session != "" || t.end.began) {
		return true
	}
	t.end.err = &p.Error
	if p.Error.code() == codeAuth {
		t.stop(stop{end: EndFailed, code: codeAuth, message: p.Error.message()})
	}
	return true
}

func (e *opencodeError) message() string {
	text := e.Data.Message
	if text == "" {
		text = e.Name
	}
	if e.Data.Status != 0 {
		text = fmt.Sprintf("the provider answered %d: %s", e.Data.Status, text)
	}
	return head(text, maxWords)
}

func (e *opencodeError) code() string {
	if e.Name == "ProviderAuthError" {
		return codeAuth
	}
	if e.Data.Status != 0 {
		return opencodeCode(e.Data.Status, "")
	}
	return opencodeCode(0, e.Data.Message)
}

// opencodeLimits is how providers word that a limit is reached.
var opencodeLimits = regexp.MustCompile(`(?i)\b429\b|rate.?limit|too.many.requests|quota|exhausted|credit|billing|slow down`)

// opencodeCode is the issue code of a failure, by its status, or by its words
// where there is none.
func opencodeCode(status int, words string) string {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return codeAuth
	case status == http.StatusTooManyRequests, status == http.StatusPaymentRequired, status == 0 && opencodeLimits.MatchString(words):
		return codeQuota
	}
	return codeFailed
}

// outcome judges the turn once the process has ended with exit, or with err.
func (t *opencodeTurn) outcome(exit sandbox.Exit, err error, stderr string) Outcome {
	o := Outcome{SessionID: t.session, Model: t.model, Version: t.version, Usage: t.end.total, Unknown: t.unknown}
	e := &t.end
	if e.over && e.err == nil {
		o.Claim = e.words
	}
	switch {
	case t.conversation.outcome(&o, err):
	case e.err != nil:
		o.End, o.Code, o.Message = EndFailed, e.err.code(), e.err.message()
	case e.lost != nil:
		o.End, o.Code, o.Message = EndFailed, codeCrashed, "the agent's server was lost: "+e.lost.Error()
		if stderr != "" {
			o.Message += ": " + stderr
		}
	case !e.over:
		o.noEnd(exit, stderr)
	case e.finish == "":
		o.End, o.Code, o.Message = EndFailed, codeNoResult, "the agent ended without an answer of the model"
	case e.finish == "length", e.finish == "content-filter", e.finish == "error", e.finish == "tool-calls":
		o.End, o.Code, o.Message = EndFailed, codeFailed, fmt.Sprintf("the model's last answer ended with %q", e.finish)
	default:
		o.End = EndClean
	}
	o.Message = head(o.Message, maxWords)
	return o
}
