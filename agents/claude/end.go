package claude

import (
	"fmt"
	"net/http"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/sandbox"
)

// ending collects how a turn ends.
type ending struct {
	result   *resultFrame // the last one
	total    agents.Usage // of all results
	apiError string       // the last error of the provider, in the CLI's word
}

// resultFrame is a result frame. Its subtype says "success" also for failures
// of the provider, so is_error and terminal_reason count.
type resultFrame struct {
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
func (c *peer) result(text []byte) {
	var r resultFrame
	if err := cli.Decode(text, &r); err != nil || r.Subtype == "" {
		c.EmitUnknown(text)
		return
	}
	c.end.result = &r
	if r.SessionID != "" {
		c.session = r.SessionID
	}
	c.end.usage(r)
	c.Emit(agents.KindUsage, c.end.total)
	switch {
	case c.Stopping():
		c.CloseInput()
	case c.Closing():
	case !r.IsError && (c.tasks > 0 || c.wake || c.Calls.Count() > 0):
		c.held = true
	default:
		c.Finish()
	}
}

// usage adds up the results of one turn: tokens are per result, the cost is
// cumulative over the session and so replaces what came before.
func (e *ending) usage(r resultFrame) {
	e.total.InputTokens += r.Usage.Input
	e.total.OutputTokens += r.Usage.Output
	e.total.CacheReadTokens += r.Usage.CacheRead
	e.total.CacheWriteTokens += r.Usage.CacheWrite
	e.total.Turns += r.Turns
	e.total.CostUSD = r.CostUSD
}

// outcome judges the turn once its process has ended with exit, or with err.
func (c *peer) outcome(exit sandbox.Exit, err error, stderr string) agents.Outcome {
	o := agents.Outcome{SessionID: c.session, Model: c.model, Version: c.version, Usage: c.end.total, Unknown: c.Unknown}
	r := c.end.result
	if r != nil && !r.IsError {
		o.Claim = cli.Head(r.Result, cli.MaxWords)
	}
	switch {
	case c.Conversation.Judge(&o, err):
	case r != nil && c.held && c.Running():
		o.End, o.Code = agents.EndFailed, agents.CodeNoResult
		o.Message = fmt.Sprintf("the agent left with %d tool calls and %d background tasks open", c.Unanswered, c.tasks)
	case r != nil && (r.IsError || r.Terminal != "completed"):
		o.End, o.Code, o.Message = agents.EndFailed, issueCode(r.Status, c.end.apiError), r.message()
	case r != nil:
		o.End = agents.EndClean
	default:
		cli.NoEnd(&o, exit, stderr)
	}
	o.Message = cli.Head(o.Message, cli.MaxWords)
	return o
}

// message is what went wrong, in the CLI's words where it has some.
func (r *resultFrame) message() string {
	switch {
	case r.Result != "":
		return r.Result
	case len(r.Errors) > 0:
		return strings.Join(r.Errors, "; ")
	}
	return fmt.Sprintf("the agent's turn ended as %q (%s)", r.Terminal, r.Subtype)
}

// issueCode is the issue code of a failure, from the provider's status and the
// CLI's word for it; either may be missing.
func issueCode(status int, word string) string {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, word == "authentication_failed":
		return agents.CodeAuth
	case status == http.StatusTooManyRequests, status == http.StatusPaymentRequired, word == "rate_limit", word == "billing_error":
		return agents.CodeQuota
	}
	return agents.CodeFailed
}
