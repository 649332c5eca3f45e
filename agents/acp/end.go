package acp

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	acp "github.com/coder/acp-go-sdk"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/sandbox"
)

// authRequired is the protocol's own code for that.
const authRequired = -32000

// statusPattern finds the status of HTTP that a CLI's message of a failure quotes.
var statusPattern = regexp.MustCompile(`(?i)(?:^\D{0,3}|\b(?:http|status|code|error)\D{0,24})(40[123]|429)\b`)

// issueCode is the issue code of a failure, by the error's code or what its
// message says.
func issueCode(code int, message string) string {
	if m := statusPattern.FindStringSubmatch(message); code < http.StatusBadRequest && m != nil {
		code, _ = strconv.Atoi(m[1]) // three digits
	}
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden, authRequired:
		return agents.CodeAuth
	case http.StatusTooManyRequests, http.StatusPaymentRequired:
		return agents.CodeQuota
	}
	return agents.CodeFailed
}

// faultOf reads an error of JSON-RPC.
func faultOf(e *acp.RequestError) turnFault {
	message := e.Message
	if d, ok := e.Data.(map[string]any); ok {
		for _, name := range []string{"details", "message", "error"} {
			if s, ok := d[name].(string); ok && s != "" && s != message {
				message += ": " + s
			}
		}
	}
	if strings.TrimSpace(message) == "" {
		message = "error " + strconv.Itoa(e.Code)
	}
	return turnFault{issue: issueCode(e.Code, message), code: e.Code, message: cli.Head(message, cli.MaxWords)}
}

// journal reads what a CLI writes about its session beside the protocol.
type journal interface {
	// skip leaves out what the journal of a session that goes on holds so far.
	skip(ctx context.Context, session string) error
	// prompted reads what the last prompt added: its tokens, and why the model
	// failed, nil where it did not.
	prompted(ctx context.Context, session string) (agents.Usage, *turnFault, error)
}

// notes reads what the CLI wrote beside the protocol about the last prompt.
func (a *peer) notes(ctx context.Context) (*turnFault, error) {
	if a.journal == nil {
		return nil, nil //nolint:nilnil // nothing is noted, and nothing went wrong
	}
	u, f, err := a.journal.prompted(ctx, a.session)
	a.prompt.usage = u
	return f, err
}

// judge says what is wrong with the answer to a prompt; nil for nothing.
func (a *peer) judge(r promptResult) *turnFault {
	switch {
	case r.StopReason != acp.StopReasonEndTurn:
		return &turnFault{issue: agents.CodeFailed, message: fmt.Sprintf("the agent's turn ended as %q", cli.Head(string(r.StopReason), maxID))}
	case r.failure != "":
		return &turnFault{issue: issueCode(0, r.failure), message: r.failure}
	case a.quirks.verdict != nil:
		return a.quirks.verdict(r)
	}
	return nil
}

// outcome judges the turn once its process has ended with exit, or with err.
func (a *peer) outcome(exit sandbox.Exit, err error, stderr string) agents.Outcome {
	o := agents.Outcome{SessionID: a.session, Model: a.model, Version: a.version, Usage: a.total, Claim: cli.Head(a.prompt.claim, cli.MaxWords)}
	if o.SessionID == "" {
		o.SessionID = a.Turn.SessionID
	}
	switch {
	case a.Conversation.Judge(&o, err):
	case a.fault != nil:
		o.End, o.Code, o.Message = agents.EndFailed, a.fault.issue, a.fault.message
	case a.clean:
		o.End = agents.EndClean
	default:
		cli.NoEnd(&o, exit, stderr)
	}
	o.Message = cli.Head(o.Message, cli.MaxWords)
	return o
}
