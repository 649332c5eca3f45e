package agents_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandboxrun/agents"
	"sandboxrun/sandbox"
)

func frameTasks(n int) string {
	return `{"type":"system","subtype":"background_tasks_changed","tasks":[` + strings.TrimSuffix(strings.Repeat(`{},`, n), ",") + `]}`
}

func TestClaudeResultBeforeTheToolsEndIsNotTheEnd(t *testing.T) {
	t.Parallel()
	h := &recorder{}
	o := mustPlay(t, h, func(cli *scriptCLI) int {
		cli.begin()
		cli.say(frameTool("a", "Bash", `{"command":"make"}`), frameResult("forged"), frameToolResult("a", "made"), frameResult("real"))
		return cli.drain()
	})
	if o.End != agents.EndClean || o.Claim != "real" {
		t.Errorf("outcome = %+v, want the later result", o)
	}
}

func TestClaudeLeavingAfterAHeldResultHasNoResult(t *testing.T) {
	t.Parallel()
	o := mustPlay(t, &recorder{}, func(cli *scriptCLI) int {
		cli.begin()
		cli.say(frameTool("a", "Bash", `{"command":"make"}`), frameResult("forged"))
		return 0
	})
	if o.End != agents.EndFailed || o.Code != "agent_no_result" || !strings.Contains(o.Message, "1 tool calls") {
		t.Errorf("outcome = %+v, want no result", o)
	}
}

func TestClaudeWaitsForBackgroundTasks(t *testing.T) {
	t.Parallel()
	o := mustPlay(t, &recorder{}, func(cli *scriptCLI) int {
		cli.begin()
		cli.say(frameTasks(1), frameResult("first"), frameTasks(0), frameInit, frameResult("second"))
		return cli.drain()
	})
	if o.End != agents.EndClean || o.Claim != "second" || o.Usage.OutputTokens != 4 {
		t.Errorf("outcome = %+v, want the second result and both usages", o)
	}
}

func TestClaudeAcceptsAHeldResultWhenNothingWakesTheModel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		o := mustPlay(t, &recorder{}, func(cli *scriptCLI) int {
			cli.begin()
			cli.say(frameTasks(1), frameResult("first"), frameTasks(0))
			return cli.drain()
		})
		if o.End != agents.EndClean || o.Claim != "first" {
			t.Errorf("outcome = %+v, want clean", o)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("took %s", took)
		}
	})
}

func TestClaudeExitCodeIsNoVerdict(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, last, stderr string
		exit               int
		end                agents.End
		code, message      string
	}{
		{"clean result, exit 1", frameResult("done"), "", 1, agents.EndClean, "", ""},
		{"no result, exit 0", "", "", 0, agents.EndFailed, "agent_no_result", "left without a result"},
		{"no result, exit 137", "", "out of\nmemory", 137, agents.EndFailed, "agent_crashed", "exit code 137 and without a result: out of\nmemory"},
		{"error result, exit 0", `{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","result":"it broke"}`, "", 0, agents.EndFailed, "agent_failed", "it broke"},
		{"refused key, exit 0", `{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":401}`, "", 0, agents.EndFailed, "agent_auth", ""},
		{"turn limit, exit 0", `{"type":"result","subtype":"error_max_turns","is_error":true,"terminal_reason":"max_turns","errors":["one","two"]}`, "", 0, agents.EndFailed, "agent_failed", "one; two"},
		{"not completed, exit 0", `{"type":"result","subtype":"success","is_error":false,"terminal_reason":"aborted_tools"}`, "", 0, agents.EndFailed, "agent_failed", "aborted_tools"},
		{"no reason, exit 0", `{"type":"result","subtype":"success","is_error":false}`, "", 0, agents.EndFailed, "agent_failed", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := mustPlay(t, &recorder{}, func(cli *scriptCLI) int {
				cli.begin()
				if tc.last != "" {
					cli.say(tc.last)
					cli.drain()
				}
				_, _ = cli.err.Write([]byte(tc.stderr))
				return tc.exit
			})
			if o.End != tc.end || o.Code != tc.code || !strings.Contains(o.Message, tc.message) {
				t.Errorf("outcome = %+v, want %s %q %q", o, tc.end, tc.code, tc.message)
			}
		})
	}
}

func TestClaudeLosesItsBox(t *testing.T) {
	t.Parallel()
	claude, _ := agents.Lookup("claude")
	full := &sandbox.LimitError{Limit: sandbox.LimitMemory}
	play := func(cli *scriptCLI) int {
		cli.begin()
		cli.say(frameResult("done"))
		return cli.drain()
	}
	o, err := claude.Run(t.Context(), scriptBox{play: play, lost: full}, agents.Turn{}, &recorder{})
	if !errors.Is(err, full) || o.End == agents.EndClean {
		t.Errorf("outcome = %+v, error = %v, want the limit", o, err)
	}
}

func TestClaudeDoesNotStartAfterTheContextEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("too late")
	cancel(stop)
	o, err := playClaude(ctx, t, &recorder{}, func(*scriptCLI) int {
		t.Error("the CLI was started")
		return 0
	})
	if !errors.Is(err, stop) || o.End != agents.EndInterrupted {
		t.Errorf("outcome = %+v, error = %v", o, err)
	}
}
