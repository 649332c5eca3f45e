// Package problem is the one form in which the server reports an error: the members of RFC 9457 beside the error document
// of the command line.
package problem

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/sandbox"
)

// Problem is an error document with its HTTP status. It is an error itself.
type Problem struct { //nolint:errname // the RFC's word
	Type     string             `doc:"URN of the kind of problem."                           json:"type"               pattern:"^urn:sandboxrun:error:[a-z_]+$"`
	Title    string             `doc:"The kind of problem in words."                         json:"title"`
	Status   int                `doc:"Status code of this answer."                           json:"status"             maximum:"599"                            minimum:"400"`
	Instance string             `doc:"URN of the request, which the server's log names too." json:"instance,omitempty"`
	Body     document.ErrorBody `json:"error"`

	retryAfter time.Duration
	cause      error // for the log only
}

// ContentType is the media type of every problem.
const ContentType = "application/problem+json"

// New makes a problem with one of the codes below; others are internal errors of this program.
func New(code, format string, args ...any) *Problem {
	k, ok := kinds[code]
	if !ok {
		return Internal(fmt.Errorf("no kind of problem is called %q", code))
	}
	return &Problem{
		Type: "urn:sandboxrun:error:" + code, Title: k.title, Status: k.status, retryAfter: k.retryAfter,
		Body: document.ErrorBody{Type: k.class, Code: code, Message: fmt.Sprintf(format, args...)},
	}
}

// With adds a hint for a person.
func (p *Problem) With(hint string) *Problem {
	p.Body.Hint = hint
	return p
}

// At adds the place of the problem: a JSON pointer, or "" with the name of a parameter in the message.
func (p *Problem) At(path, message string) *Problem {
	p.Body.Details = append(p.Body.Details, document.Detail{Path: path, Message: message})
	return p
}

// Internal is a fault of this program. The answer carries a number that the log names with the cause, and nothing else
// of the cause.
func Internal(cause error) *Problem {
	id := strings.ToLower(rand.Text()[:12])
	p := New(CodeInternal, "the server failed; its log has the reason under %s", id)
	p.Instance, p.cause = "urn:sandboxrun:request:"+id, cause
	return p
}

// coded is an error that knows its stable code.
type coded interface{ Code() string }

// From makes a problem of any error.
func From(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	body := document.DescribeError(err)
	code := codeOf(err)
	if code == CodeInternal {
		return Internal(err)
	}
	p := New(code, "%s", body.Message)
	p.Body.Details, p.Body.Hint, p.cause = body.Details, body.Hint, err
	if text, ok := plain[code]; ok && body.Type == document.ErrorInternal {
		p.Body.Message = text // the error names files of this machine
	}
	return p
}

func codeOf(err error) string {
	var (
		c        coded
		input    *document.InputError
		conflict *document.ConflictError
		gone     *sandbox.UnavailableError
		broken   *sandbox.EngineError
		image    *sandbox.ImageError
		policy   *sandbox.PolicyError
		busy     *document.BusyError
	)
	switch {
	case errors.As(err, &c) && known(c.Code()):
		return c.Code()
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return CodeDiskFull
	case errors.As(err, &busy):
		return CodeQueueTimeout
	case errors.As(err, &conflict):
		return CodeConflict
	case errors.As(err, &input):
		return CodeInvalid
	case errors.As(err, &image):
		return CodeImageMissing
	case errors.As(err, &gone), errors.As(err, &broken), errors.As(err, &policy):
		return CodeEngineUnavailable
	case errors.Is(err, fs.ErrNotExist):
		return CodeNotFound // what was just there was removed
	case errors.Is(err, context.DeadlineExceeded):
		return CodeTimeout
	}
	return CodeInternal
}

// plain is what callers learn of errors of the file system.
var plain = map[string]string{
	CodeNotFound: "there is nothing of this name",
	CodeDiskFull: "the disk of the state directory is full",
}

func known(code string) bool {
	_, ok := kinds[code]
	return ok
}

// Error is the message.
func (p *Problem) Error() string { return p.Body.Message }

// Unwrap is what the log is told and the answer is not.
func (p *Problem) Unwrap() error { return p.cause }

// GetStatus is the status code of the answer.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType replaces the media type of the answer.
func (p *Problem) ContentType(string) string { return ContentType }

// GetHeaders are the headers that belong to the status.
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="sandboxrun"`)
	}
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(p.retryAfter.Seconds())))
	}
	return h
}

// Write sends the problem as the whole answer.
func (p *Problem) Write(w http.ResponseWriter) {
	doc, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("problem: %v", err)) // strings and numbers always marshal
	}
	maps.Copy(w.Header(), p.GetHeaders())
	w.Header().Set("Content-Type", ContentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(doc)+1))
	w.WriteHeader(p.Status)
	_, _ = w.Write(append(doc, '\n')) // the client may have hung up
}
