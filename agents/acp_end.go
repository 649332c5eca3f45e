package agents

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	acp "github.com/coder/acp-go-sdk"

	"sandboxrun/sandbox"
)

// acpFault is why a turn failed.
type acpFault struct {
	issue   string // one of our codes
	code    int    // of JSON-RPC, which agents also use for statuses of HTTP
	message string
}

// acpAuthRequired is the protocol's own code for that.
const acpAuthRequired = -32000

// acpStatus finds the status of HTTP that a CLI's message of a failure quotes.
var acpStatus = regexp.MustCompile(`(?i)(?:^\D{0,3}|\b(?:http|status|code|error)\D{0,24})(40[123]|429)\b`)

// acpCode is the issue code of a failure, by the error's code or what its
// message says.
func acpCode(code int, message string) string {
	if m := acpStatus.FindStringSubmatch(message); code < http.StatusBadRequest && m != nil {
		code, _ = strconv.Atoi(m[1]) // three digits
	}
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden, acpAuthRequired:
		return codeAuth
	case http.StatusTooManyRequests, http.StatusPaymentRequired:
		return codeQuota
	}
	return codeFailed
}

// acpError reads an error of JSON-RPC.
func acpError(e *acp.RequestError) acpFault {
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
	return acpFault{issue: acpCode(e.Code, message), code: e.Code, message: head(message, maxWords)}
}

// judge says what is wrong with the answer to a prompt; nil for nothing.
func (a *acpTurn) judge(r acpPromptResult) *acpFault {
	switch {
	case r.StopReason != acp.StopReasonEndTurn:
		return &acpFault{issue: codeFailed, message: fmt.Sprintf("the agent's turn ended as %q", head(string(r.StopReason), maxACPID))}
	case r.failure != "":
		return &acpFault{issue: acpCode(0, r.failure), message: r.failure}
	case a.quirks.verdict != nil:
		return a.quirks.verdict(r)
	}
	return nil
}

// outcome judges the turn once its process has ended with exit, or with err.
func (a *acpTurn) outcome(exit sandbox.Exit, err error, stderr string) Outcome {
	o := Outcome{SessionID: a.session, Model: a.model, Version: a.version, Usage: a.total, Claim: head(a.prompt.claim, maxWords)}
	if o.SessionID == "" {
		o.SessionID = a.turn.SessionID
	}
	switch {
	case a.conversation.outcome(&o, err):
	case a.fault != nil:
		o.End, o.Code, o.Message = EndFailed, a.fault.issue, a.fault.message
	case a.clean:
		o.End = EndClean
	default:
		o.noEnd(exit, stderr)
	}
	o.Message = head(o.Message, maxWords)
	return o
}
