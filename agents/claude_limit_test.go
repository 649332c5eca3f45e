package agents_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandboxrun/agents"
)

func TestClaudeSilenceIsEndedWithinItsLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var interrupted bool
		o := mustPlay(t, &recorder{}, func(cli *scriptCLI) int {
			cli.begin()
			interrupted = subtype(cli.hear()) == "interrupt"
			<-cli.gone // does not leave
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

func TestClaudeSignsOfLifeHoldTheIdleLimitOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := mustPlay(t, &recorder{}, func(cli *scriptCLI) int {
			cli.begin()
			for range 60 {
				time.Sleep(30 * time.Second) //nolint:forbidigo // on the bubble's clock
				cli.say(`{"type":"tool_progress","heartbeat":true}`)
			}
			cli.say(`{"type":"system","subtype":"api_retry","error":"rate_limit","error_status":429,"retry_delay_ms":300000}`)
			time.Sleep(300 * time.Second) //nolint:forbidigo // on the bubble's clock
			cli.say(frameResult("done"))
			return cli.drain()
		})
		if o.End != agents.EndClean {
			t.Errorf("outcome = %+v, want clean", o)
		}
	})
}

func TestClaudeWaitingForAnApprovalIsNotSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{decide: func(context.Context, agents.ApprovalRequest) agents.Decision {
			time.Sleep(5 * time.Hour) //nolint:forbidigo // on the bubble's clock
			return agents.Decision{Allow: true}
		}}
		o := mustPlay(t, h, func(cli *scriptCLI) int {
			cli.begin()
			cli.say(frameTool("a", "Bash", `{}`), frameAsk(`"r"`, "a", "Bash", `{}`))
			cli.hear()
			cli.say(frameToolResult("a", "ran"), frameResult("done"))
			return cli.drain()
		})
		if o.End != agents.EndClean {
			t.Errorf("outcome = %+v, want clean", o)
		}
	})
}

func TestClaudeThatStaysAfterItsResultIsRemovedAndClean(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		o := mustPlay(t, &recorder{}, func(cli *scriptCLI) int {
			cli.begin()
			cli.say(frameResult("done"))
			<-cli.gone
			return 0
		})
		if o.End != agents.EndClean || time.Since(start) != 15*time.Second {
			t.Errorf("outcome = %+v after %s, want clean after 15s", o, time.Since(start))
		}
	})
}

func TestClaudeStopDeniesInterruptsAndThenRemoves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		stop := errors.New("stop it")
		h := &recorder{decide: func(ctx context.Context, _ agents.ApprovalRequest) agents.Decision {
			cancel(stop) // the run ends while the person thinks
			<-ctx.Done()
			return agents.Decision{Allow: true} // too late
		}}
		var heard []string
		o, err := playClaude(ctx, t, h, func(cli *scriptCLI) int {
			cli.begin()
			cli.say(frameTool("a", "Bash", `{}`), frameAsk(`"r"`, "a", "Bash", `{}`))
			for m := cli.hear(); m != nil; m = cli.hear() {
				heard = append(heard, subtype(m)+behavior(m))
				if subtype(m) == "interrupt" {
					cli.say(`{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools"}`)
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

func TestClaudeThatDoesNotReadIsEnded(t *testing.T) {
	t.Parallel()
	o := mustPlay(t, &recorder{}, func(cli *scriptCLI) int {
		for i := range 1000 {
			cli.say(fmt.Sprintf(`{"type":"control_request","request_id":%d,"request":{"subtype":"flood"}}`, i))
		}
		<-cli.gone
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
