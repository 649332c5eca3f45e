package claude_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
	"sandboxrun/sandbox"
)

func frameTasks(n int) string {
	return `{"type":"system","subtype":"background_tasks_changed","tasks":[` + strings.TrimSuffix(strings.Repeat(`{},`, n), ",") + `]}`
}

func TestResultBeforeTheToolsEndIsNotTheEnd(t *testing.T) {
	t.Parallel()
	h := &agentstest.Recorder{}
	o := mustPlay(t, h, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(frameTool("a", "Bash", `{"command":"make"}`), frameResult("forged"), frameToolResult("a", "made"), frameResult("real"))
		return cli.Drain()
	})
	if o.End != agents.EndClean || o.Claim != "real" {
		t.Errorf("outcome = %+v, want the later result", o)
	}
}

func TestLeavingAfterAHeldResultHasNoResult(t *testing.T) {
	t.Parallel()
	o := mustPlay(t, &agentstest.Recorder{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(frameTool("a", "Bash", `{"command":"make"}`), frameResult("forged"))
		return 0
	})
	if o.End != agents.EndFailed || o.Code != "agent_no_result" || !strings.Contains(o.Message, "1 tool calls") {
		t.Errorf("outcome = %+v, want no result", o)
	}
}

func TestWaitsForBackgroundTasks(t *testing.T) {
	t.Parallel()
	o := mustPlay(t, &agentstest.Recorder{}, func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(frameTasks(1), frameResult("first"), frameTasks(0), frameInit, frameResult("second"))
		return cli.Drain()
	})
	if o.End != agents.EndClean || o.Claim != "second" || o.Usage.OutputTokens != 4 {
		t.Errorf("outcome = %+v, want the second result and both usages", o)
	}
}

func TestAcceptsAHeldResultWhenNothingWakesTheModel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		o := mustPlay(t, &agentstest.Recorder{}, func(cli *agentstest.ScriptedCLI) int {
			begin(cli)
			cli.Say(frameTasks(1), frameResult("first"), frameTasks(0))
			return cli.Drain()
		})
		if o.End != agents.EndClean || o.Claim != "first" {
			t.Errorf("outcome = %+v, want clean", o)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("took %s", took)
		}
	})
}

func TestExitCodeIsNoVerdict(t *testing.T) {
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
			o := mustPlay(t, &agentstest.Recorder{}, func(cli *agentstest.ScriptedCLI) int {
				begin(cli)
				if tc.last != "" {
					cli.Say(tc.last)
					cli.Drain()
				}
				_, _ = cli.Err.Write([]byte(tc.stderr))
				return tc.exit
			})
			if o.End != tc.end || o.Code != tc.code || !strings.Contains(o.Message, tc.message) {
				t.Errorf("outcome = %+v, want %s %q %q", o, tc.end, tc.code, tc.message)
			}
		})
	}
}

func TestLosesItsBox(t *testing.T) {
	t.Parallel()
	claude, _ := agents.Lookup("claude")
	full := &sandbox.LimitError{Limit: sandbox.LimitMemory}
	play := func(cli *agentstest.ScriptedCLI) int {
		begin(cli)
		cli.Say(frameResult("done"))
		return cli.Drain()
	}
	o, err := claude.Run(t.Context(), agentstest.ScriptBox{Play: play, Lost: full}, agents.Turn{}, &agentstest.Recorder{})
	if !errors.Is(err, full) || o.End == agents.EndClean {
		t.Errorf("outcome = %+v, error = %v, want the limit", o, err)
	}
}

func TestDoesNotStartAfterTheContextEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("too late")
	cancel(stop)
	o, err := playTurn(ctx, t, &agentstest.Recorder{}, func(*agentstest.ScriptedCLI) int {
		t.Error("the CLI was started")
		return 0
	})
	if !errors.Is(err, stop) || o.End != agents.EndInterrupted {
		t.Errorf("outcome = %+v, error = %v", o, err)
	}
}
