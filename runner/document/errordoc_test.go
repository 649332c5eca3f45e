package document

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/sandbox"
	"sandboxrun/schemas/closed"
)

func TestErrorDocuments(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		err    error
		kind   ErrorType
		code   int
		hinted bool
	}{
		{"input", fmt.Errorf("x: %w", &InputError{Message: "m", Details: []Detail{{"/a", "b"}}, Hint: "h"}), ErrorInvalidInput, 2, true},
		{"engine gone", fmt.Errorf("x: %w", &sandbox.UnavailableError{Op: "ping", Err: errors.New("refused")}), ErrorBridgeFailure, 5, true},
		{"engine gone with hint", &sandbox.UnavailableError{Op: "ping", Hint: "start it", Err: errors.New("refused")}, ErrorBridgeFailure, 5, true},
		{"image missing", &sandbox.ImageError{Image: "x", Reason: "not found"}, ErrorBridgeFailure, 5, true},
		{"promise not kept", &sandbox.PolicyError{Promise: "no capabilities", Got: "all"}, ErrorBridgeFailure, 5, true},
		{"anything else", errors.New("boom"), ErrorInternal, 1, false},
		{"says nothing", errors.New(""), ErrorInternal, 1, false},
		{"cancelled", context.Canceled, ErrorInternal, 1, false},
		{"interrupted", fmt.Errorf("x: %w", Interrupted{Signal: syscall.SIGTERM}), ErrorInternal, 143, false},
		{"endless and not UTF-8", errors.New(strings.Repeat("\xff", 1<<20)), ErrorInternal, 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc, kind := EncodeError(tt.err)
			if kind != tt.kind {
				t.Errorf("type %s, want %s", kind, tt.kind)
			}
			if err := closed.Validate("error", doc); err != nil {
				t.Errorf("%v in %s", err, doc)
			}
			if len(doc) > 64<<10 {
				t.Errorf("document of %d bytes", len(doc))
			}
			var back errorDoc
			if err := json.Unmarshal(doc, &back); err != nil {
				t.Fatal(err)
			}
			if back.Error.Type != kind || (back.Error.Hint != "") != tt.hinted {
				t.Errorf("document %+v", back)
			}
			if code := ErrorExitCode(tt.err); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
		})
	}
}

func TestErrorDocumentHasTheContractsForm(t *testing.T) {
	t.Parallel()
	doc, _ := EncodeError(&InputError{Message: "no <b>", Details: []Detail{{Path: "/context/repo_root", Message: "is required"}}, Hint: "h"})
	want := `{
  "error": {
    "type": "invalid_input",
    "message": "no <b>",
    "details": [
      {
        "path": "/context/repo_root",
        "message": "is required"
      }
    ],
    "hint": "h"
  }
}
`
	if diff := cmp.Diff(want, string(doc)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

func TestExitCodesTellTheResult(t *testing.T) {
	t.Parallel()
	issues := func(codes ...string) (list []Issue) {
		for _, c := range codes {
			list = append(list, Issue{Code: c})
		}
		return list
	}
	tests := []struct {
		name  string
		r     Result
		cause error
		want  int
	}{
		{"success", Result{Status: StatusSuccess}, nil, 0},
		{"success though a signal came too late", Result{Status: StatusSuccess}, Interrupted{Signal: syscall.SIGINT}, 0},
		{"partial", Result{Status: StatusPartial, Issues: issues("constraint_violated")}, nil, 3},
		{"failed", Result{Status: StatusFailed, Issues: issues("agent_auth")}, nil, 4},
		{"failed without issues", Result{Status: StatusFailed}, nil, 4},
		{"time", Result{Status: StatusPartial, Issues: issues("no_changes", "runtime_limit")}, nil, 6},
		{"memory", Result{Status: StatusFailed, Issues: issues("memory_limit")}, nil, 6},
		{"pids", Result{Status: StatusFailed, Issues: issues("pids_limit")}, nil, 6},
		{"disk", Result{Status: StatusFailed, Issues: issues("disk_limit")}, nil, 6},
		{"output", Result{Status: StatusFailed, Issues: issues("output_limit")}, nil, 6},
		{"SIGINT", Result{Status: StatusPartial, Issues: issues(CodeInterrupted)}, Interrupted{Signal: syscall.SIGINT}, 130},
		{"SIGTERM", Result{Status: StatusFailed, Issues: issues(CodeInterrupted)}, Interrupted{Signal: syscall.SIGTERM}, 143},
	}
	for _, tt := range tests {
		if got := ExitCode(&tt.r, tt.cause); got != tt.want {
			t.Errorf("%s: exit code %d, want %d", tt.name, got, tt.want)
		}
	}
}
