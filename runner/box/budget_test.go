package box

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/runner/plan"
	"sandboxrun/runner/state"
	"sandboxrun/sandbox"
)

func TestRequestsThatCannotBeCountedAreRefused(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	st, err := state.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "spent.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	remarks := 0
	b := &Budget{Day: plan.Spending{Tokens: 1}, State: st, Remark: func(string, ...any) { remarks++ }}
	if err := b.Begin(t.Context(), 1, 1); err == nil || strings.Contains(err.Error(), dir) || remarks != 1 {
		t.Errorf("%v, %d remarks", err, remarks)
	}
}

// reachedLimit is the limit an error is about, "" for none.
func reachedLimit(err error) string {
	if l, ok := errors.AsType[*sandbox.LimitError](err); ok {
		return l.Which
	}
	return ""
}

func TestRequestsEndAtTheirNumber(t *testing.T) {
	t.Parallel()
	told := 0
	b := &Budget{Run: plan.Spending{Requests: 2}, Reached: func(*sandbox.LimitError) { told++ }}
	for range 2 {
		if err := b.Begin(t.Context(), 10, 0); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := b.Begin(t.Context(), 10, 0); reachedLimit(err) != sandbox.MeasureRunRequests {
			t.Errorf("%v", err)
		}
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}

func TestTokensAreExceededByOneAnswerAtMost(t *testing.T) {
	t.Parallel()
	b := &Budget{Run: plan.Spending{Tokens: 1000}}
	if err := b.Begin(t.Context(), 10, 64_000); err != nil { // alone: admitted, though its answer may be larger
		t.Fatal(err)
	}
	second := make(chan error)
	go func() { second <- b.Begin(t.Context(), 10, 64_000) }()
	select {
	case err := <-second:
		t.Fatalf("two answers that may exceed the tokens are under way: %v", err)
	default:
	}
	b.End(t.Context(), 10, 64_000, 400)
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := b.Begin(gone, 10, 64_000); !errors.Is(err, context.Canceled) {
		t.Errorf("who waits and leaves: %v", err)
	}
	b.End(t.Context(), 10, 64_000, 700)
	if err := b.Begin(t.Context(), 1, 1); reachedLimit(err) != sandbox.MeasureRunTokens {
		t.Errorf("after 1100 of 1000: %v", err)
	}
}

func TestSmallRequestsRunSideBySide(t *testing.T) {
	t.Parallel()
	b := &Budget{Run: plan.Spending{Tokens: 1000}}
	for range 4 {
		if err := b.Begin(t.Context(), 50, 200); err != nil {
			t.Fatal(err)
		}
	}
	for range 4 {
		b.End(t.Context(), 50, 200, 100)
	}
	if b.tokens != 400 || b.reserved != 0 || b.open != 0 {
		t.Errorf("%d tokens, %d reserved, %d open", b.tokens, b.reserved, b.open)
	}
}

func TestRunsOfADayShareItsLimits(t *testing.T) {
	t.Parallel()
	st, err := state.Open(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	run := func(day plan.Spending) *Budget { return &Budget{Day: day, State: st} }
	first := run(plan.Spending{Tokens: 1000})
	if err := first.Begin(t.Context(), 100, 0); err != nil {
		t.Fatal(err)
	}
	first.End(t.Context(), 100, 0, 600)
	second := run(plan.Spending{Tokens: 1000})
	if err := second.Begin(t.Context(), 400, 0); err != nil { // 600 of 1000
		t.Fatal(err)
	}
	if err := first.Begin(t.Context(), 1, 0); reachedLimit(err) != sandbox.MeasureDayTokens { // its estimate counts already
		t.Errorf("%v", err)
	}
	second.End(t.Context(), 400, 0, 0) // the provider refused it
	if err := run(plan.Spending{Tokens: 1000}).Begin(t.Context(), 1, 0); err != nil {
		t.Errorf("what was not used is given back: %v", err)
	}
	if err := run(plan.Spending{Requests: 3}).Begin(t.Context(), 1, 0); reachedLimit(err) != sandbox.MeasureDayRequests {
		t.Errorf("%v", err)
	}
}
