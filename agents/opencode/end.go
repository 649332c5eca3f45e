package opencode

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/sandbox"
)

const (
	// maxRetries is how often a failed request may be repeated after a wait
	// of any length; longWait is what the waits after that must stay below.
	maxRetries = 3
	longWait   = 5 * time.Second
)

// sessionError is an error of a session.
type sessionError struct {
	Name string `json:"name"`
	Data struct {
		Message   string `json:"message"`
		Status    int    `json:"statusCode"`
		Retryable bool   `json:"isRetryable"`
	} `json:"data"`
}

// status handles the state of a session, retries of requests included.
func (t *peer) status(properties json.RawMessage) bool {
	var p struct {
		Session string `json:"sessionID"`
		Status  struct {
			Type    string `json:"type"`
			Attempt int    `json:"attempt"`
			Message string `json:"message"`
			Next    int64  `json:"next"` // Unix milliseconds
		} `json:"status"`
	}
	if cli.Decode(properties, &p) != nil {
		return false
	}
	switch p.Status.Type {
	case "busy":
		t.end.began = t.end.began || p.Session == t.session
		return true
	case "offline":
		return true // session.network.asked comes with it
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
func (t *peer) retry(attempt int, message string, wait time.Duration) {
	message = cli.Head(message, cli.MaxWords)
	t.Emit(agents.KindSystemMessage, agents.Message{Text: fmt.Sprintf("the provider failed (%s): retry %d", message, attempt)})
	if attempt > maxRetries && wait > longWait || wait > cli.MaxPause {
		t.Stop(cli.StopReason{End: agents.EndFailed, Code: issueCode(0, message), Message: fmt.Sprintf("the provider failed %d times: %s", attempt, message)})
		return
	}
	t.Pause = max(wait, 0)
}

// boxClock is the clock of the box as its messages tell it: that need not
// be ours.
type boxClock struct {
	told int64 // Unix milliseconds
	at   time.Time
}

// tell notes what time it is there.
func (c *boxClock) tell(ms int64) {
	if ms > c.told {
		c.told, c.at = ms, time.Now()
	}
}

// until is how far away a time there is.
func (c *boxClock) until(ms int64) time.Duration {
	if c.at.IsZero() {
		return time.Until(time.UnixMilli(ms))
	}
	return time.UnixMilli(ms).Sub(time.UnixMilli(c.told)) - time.Since(c.at)
}

// idle handles the end of what a session does. After an error it comes twice.
func (t *peer) idle(properties json.RawMessage) bool {
	var p struct {
		Session string `json:"sessionID"`
	}
	if cli.Decode(properties, &p) != nil || p.Session == "" {
		return false
	}
	if p.Session != t.session || t.end.over || !t.end.began && t.end.err == nil {
		return true
	}
	if t.brokenOff() {
		return true // the turn goes on, see closed
	}
	t.end.over = true
	close(t.quiet)
	t.Finish()
	return true
}

// failed handles an error of a session, or of none.
func (t *peer) failed(properties json.RawMessage) bool {
	var p struct {
		Session string       `json:"sessionID"`
		Error   sessionError `json:"error"`
	}
	if cli.Decode(properties, &p) != nil || p.Error.Name == "" {
		return false
	}
	if t.Stopping() && p.Error.Name == "MessageAbortedError" {
		return true // our abort
	}
	t.Emit(agents.KindErrorMessage, agents.Message{Text: p.Error.message(), Code: p.Error.Name, Parent: t.log.children[p.Session]})
	if t.end.over || p.Session != t.session && (p.Session != "" || t.end.began) {
		return true
	}
	t.end.err = &p.Error
	if p.Error.code() == agents.CodeAuth {
		t.Stop(cli.StopReason{End: agents.EndFailed, Code: agents.CodeAuth, Message: p.Error.message()})
	}
	return true
}

func (e *sessionError) message() string {
	text := e.Data.Message
	if text == "" {
		text = e.Name
	}
	if e.Data.Status != 0 {
		text = fmt.Sprintf("the provider answered %d: %s", e.Data.Status, text)
	}
	return cli.Head(text, cli.MaxWords)
}

func (e *sessionError) code() string {
	if e.Name == "ProviderAuthError" {
		return agents.CodeAuth
	}
	if e.Data.Status != 0 {
		return issueCode(e.Data.Status, "")
	}
	return issueCode(0, e.Data.Message)
}

// quotaWords is how providers word that a limit is reached.
var quotaWords = regexp.MustCompile(`(?i)\b429\b|rate.?limit|too.many.requests|quota|exhausted|credit|billing|slow down`)

// issueCode is the issue code of a failure, by its status, or by its words
// where there is none.
func issueCode(status int, words string) string {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return agents.CodeAuth
	case status == http.StatusTooManyRequests, status == http.StatusPaymentRequired, status == 0 && quotaWords.MatchString(words):
		return agents.CodeQuota
	}
	return agents.CodeFailed
}

// outcome judges the turn once the process has ended with exit, or with err.
func (t *peer) outcome(exit sandbox.Exit, err error, stderr string) agents.Outcome {
	o := agents.Outcome{SessionID: t.session, Model: t.model, Version: t.version, Usage: t.end.total, Unknown: t.Unknown}
	e := &t.end
	if e.over && e.err == nil {
		o.Claim = e.words
	}
	switch {
	case t.Conversation.Judge(&o, err):
	case e.err != nil:
		o.End, o.Code, o.Message = agents.EndFailed, e.err.code(), e.err.message()
	case e.lost != nil:
		o.End, o.Code, o.Message = agents.EndFailed, agents.CodeCrashed, "the agent's server was lost: "+e.lost.Error()
		if stderr != "" {
			o.Message += ": " + stderr
		}
	case !e.over:
		cli.NoEnd(&o, exit, stderr)
	case e.finish == "":
		o.End, o.Code, o.Message = agents.EndFailed, agents.CodeNoResult, "the agent ended without an answer of the model"
	case e.finish == "length", e.finish == "content-filter", e.finish == "error", e.finish == "tool-calls":
		o.End, o.Code, o.Message = agents.EndFailed, agents.CodeFailed, fmt.Sprintf("the model's last answer ended with %q", e.finish)
	default:
		o.End = agents.EndClean
	}
	o.Message = cli.Head(o.Message, cli.MaxWords)
	return o
}
