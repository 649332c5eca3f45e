package agents

import (
	"context"
	"encoding/json"
	"sync"
)

// maxApprovals bounds how many requests wait for a decision at once. Claude Code
// asks one at a time; more come from something else.
const maxApprovals = 32

// claudeAsked is one request the host was asked to decide.
type claudeAsked struct {
	id       json.RawMessage // as the CLI wrote it: it compares by value and type
	toolID   string
	input    json.RawMessage
	cancel   context.CancelFunc
	decision Decision // valid once it comes out of decided
}

// claudeApprovals asks the host about tool calls, each in a goroutine of its
// own, so that reading goes on while a person thinks.
type claudeApprovals struct {
	host    Approver
	decided chan *claudeAsked       // room for all of them: nobody blocks
	open    map[string]*claudeAsked // by id, as JSON
	running int                     // requests that have not come out of decided
	group   sync.WaitGroup
	closed  bool
}

func newClaudeApprovals(h Approver) *claudeApprovals {
	return &claudeApprovals{host: h, decided: make(chan *claudeAsked, maxApprovals), open: map[string]*claudeAsked{}}
}

// pending is the number of requests that wait for a decision.
func (a *claudeApprovals) pending() int { return len(a.open) }

// ask lets the host decide about r. It returns why it does not, or "".
func (a *claudeApprovals) ask(ctx context.Context, id json.RawMessage, r ApprovalRequest) (refused string) {
	switch {
	case a.closed:
		return "the turn is ending"
	case a.open[string(id)] != nil:
		return "a request with this id is open"
	case a.running >= maxApprovals:
		return "too many open requests"
	}
	ctx, cancel := context.WithCancel(ctx)
	asked := &claudeAsked{id: id, toolID: r.ToolID, input: r.Input, cancel: cancel}
	a.open[string(id)] = asked
	a.running++
	a.group.Go(func() {
		asked.decision = a.host.Approve(ctx, r)
		if ctx.Err() != nil {
			asked.decision.Allow = false
		}
		a.decided <- asked
	})
	return ""
}

// withdraw drops a request the CLI has cancelled; it is not answered any more.
func (a *claudeApprovals) withdraw(id json.RawMessage) {
	if asked := a.open[string(id)]; asked != nil {
		asked.cancel()
		delete(a.open, string(id))
	}
}

// settle takes a decided request off the books and says whether to answer it.
// One that was withdrawn is not answered, even when its id is in use again.
func (a *claudeApprovals) settle(asked *claudeAsked) bool {
	a.running--
	asked.cancel()
	if a.open[string(asked.id)] != asked {
		return false
	}
	delete(a.open, string(asked.id))
	return true
}

// close cancels what is open, waits for the host, and returns the requests that
// are left to settle. Nothing is asked afterwards.
func (a *claudeApprovals) close() []*claudeAsked {
	a.closed = true
	for _, asked := range a.open {
		asked.cancel()
	}
	a.group.Wait()
	list := make([]*claudeAsked, 0, len(a.decided))
	for len(a.decided) > 0 {
		list = append(list, <-a.decided)
	}
	return list
}
