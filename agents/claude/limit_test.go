package claude_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
	"sandboxrun/sandbox"
)

func TestSilenceIsEndedWithinItsLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var interrupted bool
		o := mustPlay(t, &agentstest.Recorder{}, func(cli *agentstest.ScriptedCLI) int {
			begin(cli)
			interrupted = subtype(cli.Hear()) == "interrupt"
			<-cli.Gone // does not leave
			return 0
		})
		if o.End != agents.EndInterrupted || o.Code != "agent_no_result" || !interrupted {
			t.Errorf("outcome = %+v, interrupted = %v", o, interrupted)
		}
		if took := time.Since(start); took != agents.DefaultIdle+2*time.Second {
			t.Errorf("took %s, want the idle limit and the grace", took)
		}
	})
}

func TestSignsOfLifeHoldTheIdleLimitOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := mustPlay(t, &agentstest.Recorder{}, func(cli *agentstest.ScriptedCLI) int {
			begin(cli)
			for range 60 {
				time.Sleep(30 * time.Second) //nolint:forbidigo // on the bubble's clock
				cli.Say(`{"type":"tool_progress","heartbeat":true}`)
			}
			cli.Say(`{"type":"system","subtype":"api_retry","error":"rate_limit","error_status":429,"retry_delay_ms":300000}`)
			time.Sleep(300 * time.Second) //nolint:forbidigo // on the bubble's clock
			cli.Say(frameResult("done"))
			return cli.Drain()
		})
		if o.End != agents.EndClean {
			t.Errorf("outcome = %+v, want clean", o)
		}
	})
}

func TestWaitingForAnApprovalIsNotSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &agentstest.Recorder{Decide: func(context.Context, agents.ApprovalRequest) agents.Decision {
			time.Sleep(5 * time.Hour) //nolint:forbidigo // on the bubble's clock
			return agents.Decision{Allow: true}
		}}
		o := mustPlay(t, h, func(cli *agentstest.ScriptedCLI) int {
			begin(cli)
			cli.Say(frameTool("a", "Bash", `{}`), frameAsk(`"r"`, "a", "Bash", `{}`))
			cli.Hear()
			cli.Say(frameToolResult("a", "ran"), frameResult("done"))
			return cli.Drain()
		})
		if o.End != agents.EndClean {
			t.Errorf("outcome = %+v, want clean", o)
		}
	})
}

func TestThatStaysAfterItsResultIsRemovedAndClean(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		o := mustPlay(t, &agentstest.Recorder{}, func(cli *agentstest.ScriptedCLI) int {
			begin(cli)
			cli.Say(frameResult("done"))
			<-cli.Gone
			return 0
		})
		// After 15 s it is ended inside its box, which has no effect here, and after
		// as long again the box is removed.
		if o.End != agents.EndClean || time.Since(start) != 30*time.Second {
			t.Errorf("outcome = %+v after %s, want clean after 30s", o, time.Since(start))
		}
	})
}

func TestStopDeniesInterruptsAndThenRemoves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		stop := errors.New("stop it")
		h := &agentstest.Recorder{Decide: func(ctx context.Context, _ agents.ApprovalRequest) agents.Decision {
			cancel(stop) // the run ends while the person thinks
			<-ctx.Done()
			return agents.Decision{Allow: true} // too late
		}}
		var heard []string
		o, err := playTurn(ctx, t, h, func(cli *agentstest.ScriptedCLI) int {
			begin(cli)
			cli.Say(frameTool("a", "Bash", `{}`), frameAsk(`"r"`, "a", "Bash", `{}`))
			for m := cli.Hear(); m != nil; m = cli.Hear() {
				heard = append(heard, subtype(m)+behavior(m))
				if subtype(m) == "interrupt" {
					cli.Say(`{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools"}`)
				}
			}
			return 1
		})
		if !errors.Is(err, stop) || o.End != agents.EndInterrupted {
			t.Errorf("outcome = %+v, error = %v", o, err)
		}
		if got := strings.Join(heard, " "); got != "successdeny interrupt" {
			t.Errorf("the CLI heard %q, want a denial, then an interrupt, then the end of its input", got)
		}
	})
}

func TestThatDoesNotReadIsEnded(t *testing.T) {
	t.Parallel()
	o := mustPlay(t, &agentstest.Recorder{}, func(cli *agentstest.ScriptedCLI) int {
		for i := range 1000 {
			cli.Say(fmt.Sprintf(`{"type":"control_request","request_id":%d,"request":{"subtype":"flood"}}`, i))
		}
		<-cli.Gone
		return 0
	})
	if o.End != agents.EndFailed || o.Code != "agent_crashed" || !strings.Contains(o.Message, "does not read") {
		t.Errorf("outcome = %+v", o)
	}
}

func subtype(m map[string]any) string {
	for _, field := range []string{"request", "response"} {
		if inner, ok := m[field].(map[string]any); ok {
			s, _ := inner["subtype"].(string)
			return s
		}
	}
	return ""
}

func behavior(m map[string]any) string {
	response, _ := m["response"].(map[string]any)
	inner, _ := response["response"].(map[string]any)
	s, _ := inner["behavior"].(string)
	return s
}

// endableBox is a ScriptBox in which ending every process has an effect.
type endableBox struct {
	agentstest.ScriptBox
	end func()
}

func (b endableBox) Exec(ctx context.Context, c sandbox.Command) (sandbox.Exit, error) {
	if slices.Equal(c.Argv, []string{"sh", "-c", "kill -KILL -1"}) {
		b.end()
		return sandbox.Exit{}, nil
	}
	return b.ScriptBox.Exec(ctx, c)
}

func TestThatStaysIsEndedAndItsBoxStays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		removed := false
		box := endableBox{end: func() { close(ended) }, ScriptBox: agentstest.ScriptBox{Play: func(cli *agentstest.ScriptedCLI) int {
			begin(cli)
			cli.Say(frameResult("done"))
			select {
			case <-ended:
			case <-cli.Gone:
				removed = true
			}
			return 137
		}}}
		a, _ := agents.Lookup("claude")
		o, err := a.Run(t.Context(), box, agents.Turn{Prompt: "go", SessionID: "s-0"}, &agentstest.Recorder{})
		if err != nil || o.End != agents.EndClean || removed {
			t.Errorf("outcome = %+v, %v, box removed: %v", o, err, removed)
		}
	})
}
