package agents

import (
	"fmt"
	"net/http"
	"strings"

	"sandboxrun/sandbox"
)

// maxWords bounds what an outcome quotes of the agent, in bytes.
const maxWords = 64 << 10

// claudeEnd collects how a turn ends.
type claudeEnd struct {
	result   *claudeResult // the last one
	total    Usage         // of all results
	apiError string        // the last error of the provider, in the CLI's word
}

// claudeResult is a result frame. Its subtype says "success" also for failures
// of the provider, so is_error and terminal_reason count.
type claudeResult struct {
	Subtype   string   `json:"subtype"`
	IsError   bool     `json:"is_error"`
	Terminal  string   `json:"terminal_reason"`
	Status    int      `json:"api_error_status"`
	Result    string   `json:"result"`
	Errors    []string `json:"errors"`
	Turns     int      `json:"num_turns"`
	CostUSD   float64  `json:"total_cost_usd"`
	SessionID string   `json:"session_id"`
	Usage     struct {
		Input      int64 `json:"input_tokens"`
		Output     int64 `json:"output_tokens"`
		CacheRead  int64 `json:"cache_read_input_tokens"`
		CacheWrite int64 `json:"cache_creation_input_tokens"`
	} `json:"usage"`
}

// result handles a result frame, which ends the turn unless something is left
// that the CLI goes on with.
func (c *claudeTurn) result(text []byte) {
	var r claudeResult
	if err := decode(text, &r); err != nil || r.Subtype == "" {
		c.strange(text)
		return
	}
	c.end.result = &r
	if r.SessionID != "" {
		c.session = r.SessionID
	}
	c.end.usage(r)
	c.emit(KindUsage, c.end.total)
	switch {
	case c.stopping():
		c.closeInput()
	case c.state == turnClosing:
	case !r.IsError && (c.tasks > 0 || c.wake || c.calls.count() > 0):
		c.held = true
	default:
		c.finish()
	}
}

// usage adds up the results of one turn: tokens are per result, the cost is
// cumulative over the session and so replaces what came before.
func (e *claudeEnd) usage(r claudeResult) {
	e.total.InputTokens += r.Usage.Input
	e.total.OutputTokens += r.Usage.Output
	e.total.CacheReadTokens += r.Usage.CacheRead
	e.total.CacheWriteTokens += r.Usage.CacheWrite
	e.total.Turns += r.Turns
	e.total.CostUSD = r.CostUSD
}

// outcome judges the turn once its process has ended with exit, or with err.
func (c *claudeTurn) outcome(exit sandbox.Exit, err error, stderr string) Outcome {
	o := Outcome{SessionID: c.session, Model: c.model, Version: c.version, Usage: c.end.total, Unknown: c.unknown}
	r := c.end.result
	if r != nil && !r.IsError {
		o.Claim = head(r.Result, maxWords)
	}
	switch {
	case c.conversation.outcome(&o, err):
	case r != nil && c.held && c.state == turnRunning:
		o.End, o.Code = EndFailed, codeNoResult
		o.Message = fmt.Sprintf("the agent left with %d tool calls and %d background tasks open", c.left, c.tasks)
	case r != nil && (r.IsError || r.Terminal != "completed"):
		o.End, o.Code, o.Message = EndFailed, claudeCode(r.Status, c.end.apiError), r.message()
	case r != nil:
		o.End = EndClean
	default:
		o.noEnd(exit, stderr)
	}
	o.Message = head(o.Message, maxWords)
	return o
}

// message is what went wrong, in the CLI's words where it has some.
func (r *claudeResult) message() string {
	switch {
	case r.Result != "":
		return r.Result
	case len(r.Errors) > 0:
		return strings.Join(r.Errors, "; ")
	}
	return fmt.Sprintf("the agent's turn ended as %q (%s)", r.Terminal, r.Subtype)
}

// claudeCode is the issue code of a failure, from the provider's status and the
// CLI's word for it; either may be missing.
func claudeCode(status int, word string) string {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, word == "authentication_failed":
		return codeAuth
	case status == http.StatusTooManyRequests, status == http.StatusPaymentRequired, word == "rate_limit", word == "billing_error":
		return codeQuota
	}
	return codeFailed
}
