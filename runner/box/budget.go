package box

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"sandboxrun/runner/plan"
	"sandboxrun/runner/state"
	"sandboxrun/sandbox"
)

// Budget is what the model requests of a run may cost, and those of all runs of a state directory in a day. The next
// request after a limit was reached is refused and ends the run.
//
// A request names the most its answer may have, and agents name far more than they use. So the budget neither refuses
// nor changes a request that could go beyond it, but admits such a request only while no other is under way: a run goes
// beyond its tokens by one answer at most. Runs at one time do not see one another's answers before they end.
type Budget struct {
	Run   plan.Spending // 0 for no limit
	Day   plan.Spending // of all runs of State; 0 for no limit
	State *state.State
	// Reached is called once, with the limit that ended the run.
	Reached func(*sandbox.LimitError)
	// Remark writes down what went wrong with the day's count, for people.
	Remark func(format string, args ...any)

	mu       sync.Mutex
	requests int64
	tokens   int64 // used by requests that have ended
	reserved int64 // by those under way
	open     int   // requests under way
	ended    chan struct{}
	over     *sandbox.LimitError
}

// Begin implements egress.Budget.
func (b *Budget) Begin(ctx context.Context, input, output int64) error {
	if err := b.admit(ctx, input, output); err != nil {
		return err
	}
	if b.Day == (plan.Spending{}) {
		return nil
	}
	sum, over, err := b.State.Spend(ctx, time.Now(), state.Spent{Requests: 1, Tokens: input}, &state.Spent{Requests: b.Day.Requests, Tokens: b.Day.Tokens})
	if err == nil && !over {
		return nil
	}
	b.leave(input+output, 0)
	if err != nil {
		b.Remark("a model request was refused: %v", err)
		return errUncounted
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Day.Requests > 0 && sum.Requests >= b.Day.Requests {
		return b.reach(sandbox.LimitRequests, sandbox.MeasureDayRequests, b.Day.Requests, sum.Requests)
	}
	return b.reach(sandbox.LimitTokens, sandbox.MeasureDayTokens, b.Day.Tokens, sum.Tokens)
}

// admit takes a request up in the counts of the run. It waits while the requests under way might use up the tokens.
func (b *Budget) admit(ctx context.Context, input, output int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		switch {
		case b.over != nil:
			return b.over
		case b.Run.Requests > 0 && b.requests >= b.Run.Requests:
			return b.reach(sandbox.LimitRequests, sandbox.MeasureRunRequests, b.Run.Requests, b.requests)
		case b.Run.Tokens > 0 && b.tokens >= b.Run.Tokens:
			return b.reach(sandbox.LimitTokens, sandbox.MeasureRunTokens, b.Run.Tokens, b.tokens)
		case b.Run.Tokens == 0 || b.open == 0 || b.tokens+b.reserved+input+output <= b.Run.Tokens:
			b.requests++
			b.open++
			b.reserved += input + output
			return nil
		}
		if b.ended == nil {
			b.ended = make(chan struct{})
		}
		ended := b.ended
		b.mu.Unlock()
		select {
		case <-ended:
		case <-ctx.Done():
		}
		b.mu.Lock()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// End implements egress.Budget.
func (b *Budget) End(ctx context.Context, input, output, used int64) {
	b.leave(input+output, used)
	if b.Day == (plan.Spending{}) || used == input {
		return
	}
	// What cannot be counted now was counted by its estimate.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), spendBound)
	defer cancel()
	if _, over, err := b.State.Spend(ctx, time.Now(), state.Spent{Tokens: used - input}, nil); err != nil || over {
		b.Remark("a model request counts %d tokens in the day's count and used %d: %v", input, used, err)
	}
}

// errUncounted is what a box sees of a count that cannot be kept.
var errUncounted = errors.New("the day's count of model requests cannot be kept")

// spendBound is how long a correction of the day's count may wait for other runs.
const spendBound = 2 * time.Second

// leave ends a request in the counts of the run.
func (b *Budget) leave(reserved, used int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open--
	b.reserved -= reserved
	b.tokens += used
	if b.ended != nil {
		close(b.ended)
		b.ended = nil
	}
}

// reach says which limit was reached, the first time also to the run. The caller holds the lock.
func (b *Budget) reach(limit sandbox.Limit, which string, allowed, measured int64) error {
	if b.over == nil {
		b.over = &sandbox.LimitError{Limit: limit, Which: which, Allowed: allowed, Measured: measured,
			Detail: fmt.Sprintf("%s: %d of %d are used", which, measured, allowed)}
		if b.Reached != nil {
			b.Reached(b.over)
		}
	}
	return b.over
}
