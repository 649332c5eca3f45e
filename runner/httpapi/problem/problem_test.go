package problem

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"sandboxrun/runner/document"
	"sandboxrun/sandbox"
	"sandboxrun/schemas/closed"
)

type codedError string

func (e codedError) Error() string { return "coded" }
func (e codedError) Code() string  { return string(e) }

func TestEveryErrorBecomesOneDocumentOfTheContract(t *testing.T) {
	t.Parallel()
	list := &document.InputError{Message: "not valid", Details: []document.Detail{{Path: "/a", Message: "is odd"}, {Path: "/b", Message: "too"}}}
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{fmt.Errorf("read: %w", list), 400, CodeInvalid},
		{&document.ConflictError{InputError: list}, 409, CodeConflict},
		{fmt.Errorf("x: %w", codedError(CodeSessionBusy)), 409, CodeSessionBusy},
		{codedError("invented"), 500, CodeInternal},
		{&sandbox.UnavailableError{}, 503, CodeEngineUnavailable},
		{&sandbox.ImageError{}, 503, CodeImageMissing},
		{&document.BusyError{Reason: "r"}, 503, CodeQueueTimeout},
		{fmt.Errorf("write: %w", syscall.ENOSPC), 507, CodeDiskFull},
		{errors.New("/secret/path: broken"), 500, CodeInternal},
		{&fs.PathError{Op: "open", Path: "/secret/path", Err: fs.ErrNotExist}, 404, CodeNotFound},
		{&fs.PathError{Op: "write", Path: "/secret/path", Err: syscall.ENOSPC}, 507, CodeDiskFull},
		{New("invented", ""), 500, CodeInternal},
	} {
		p := From(c.err)
		if p.Status != c.status || p.Body.Code != c.code || p.Type != "urn:sandboxrun:error:"+c.code {
			t.Errorf("%v: %d %s %s, want %d %s", c.err, p.Status, p.Body.Code, p.Type, c.status, c.code)
		}
		w := httptest.NewRecorder()
		p.Write(w)
		if err := closed.Validate("error", w.Body.Bytes()); err != nil {
			t.Errorf("%v: %v: %s", c.err, err, w.Body)
		}
		if strings.Contains(w.Body.String(), "/secret/path") {
			t.Errorf("an internal error shows its cause: %s", w.Body)
		}
		if w.Code == 503 && w.Header().Get("Retry-After") == "" {
			t.Errorf("%v: no Retry-After", c.err)
		}
	}
	if p := From(list); len(p.Body.Details) != 2 {
		t.Errorf("details are lost: %+v", p.Body)
	}
}

func TestEveryKindHasATitleAndAnErrorStatus(t *testing.T) {
	t.Parallel()
	for code, k := range kinds {
		if k.title == "" || k.class == "" || k.status < 400 {
			t.Errorf("%s: %+v", code, k)
		}
	}
}
