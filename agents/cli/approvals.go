package cli

import (
	"context"
	"sync"

	"sandboxrun/agents"
)

// MaxApprovals bounds how many requests wait for a decision at once. Agents ask
// one at a time, or a few together; more come from something else.
const MaxApprovals = 32

// MaxQuestions bounds the questions of one request; Claude Code allows four.
const MaxQuestions = 16

// Asked is one request the host was asked to decide.
type Asked struct {
	Key      string // the agent's id of the request, as approvals.ask was given it
	Request  agents.ApprovalRequest
	cancel   context.CancelFunc
	Decision agents.Decision // valid once it comes out of decided
}

// approvals asks the host about tool calls, each in a goroutine of its own, so
// that reading goes on while a person thinks.
type approvals struct {
	host    agents.Approver
	decided chan *Asked       // room for all of them: sending never blocks
	open    map[string]*Asked // by key
	running int               // requests that have not come out of decided
	group   sync.WaitGroup
	closed  bool
}

func newApprovals(h agents.Approver) *approvals {
	return &approvals{host: h, decided: make(chan *Asked, MaxApprovals), open: map[string]*Asked{}}
}

// pending is the number of requests that wait for a decision.
func (a *approvals) pending() int { return len(a.open) }

// ask lets the host decide about r. It returns why it does not, or "".
func (a *approvals) ask(ctx context.Context, key string, r agents.ApprovalRequest) (refused string) {
	switch {
	case a.closed:
		return "the turn is ending"
	case a.open[key] != nil:
		return "a request with this id is open"
	case a.running >= MaxApprovals:
		return "too many open requests"
	}
	ctx, cancel := context.WithCancel(ctx)
	q := &Asked{Key: key, Request: r, cancel: cancel}
	a.open[key] = q
	a.running++
	a.group.Go(func() {
		q.Decision = a.host.Approve(ctx, r)
		if ctx.Err() != nil {
			q.Decision.Allow = false
		}
		a.decided <- q
	})
	return ""
}

// withdraw drops a request the agent has cancelled; it is not answered any more.
func (a *approvals) withdraw(key string) {
	if q := a.open[key]; q != nil {
		q.cancel()
		delete(a.open, key)
	}
}

// settle removes a decided request and reports whether to answer it.
// One that was withdrawn is not answered, even when its key is in use again.
func (a *approvals) settle(q *Asked) bool {
	a.running--
	q.cancel()
	if a.open[q.Key] != q {
		return false
	}
	delete(a.open, q.Key)
	return true
}

// close cancels what is open, waits for the host, and returns the requests that
// are left to settle. Nothing is asked afterwards.
func (a *approvals) close() []*Asked {
	a.closed = true
	for _, q := range a.open {
		q.cancel()
	}
	a.group.Wait()
	list := make([]*Asked, 0, len(a.decided))
	for len(a.decided) > 0 {
		list = append(list, <-a.decided)
	}
	return list
}
