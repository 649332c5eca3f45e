package agents

import (
	"errors"
	"net/http"
	"slices"
)

// opencodeReply answers a request.
type opencodeReply struct {
	path string
	body any
	last bool // it aborts the turn
}

// answer tells the server what was decided. A denial makes it deny whatever else
// is asked in the session, so denials wait for the calls beside them.
func (t *opencodeTurn) answer(q *asked, d Decision) {
	q.decision = d
	t.decided(q)
	switch {
	case !d.Allow:
		t.held = append(t.held, q)
	case len(q.request.Questions) > 0:
		t.tell(opencodeReply{path: "/question/" + q.key + "/reply", body: map[string]any{"answers": opencodeAnswers(q.request, d)}})
	default:
		t.tell(opencodeReply{path: "/permission/" + q.key + "/reply", body: map[string]any{"reply": "once"}})
	}
	t.release(t.stopping())
}

func (t *opencodeTurn) decided(q *asked) {
	if c := t.log.calls[q.request.ToolID]; c != nil {
		c.decided = true
	}
}

// release sends the denials that waited, once nothing is asked and every call of
// the same message has been asked about or is over. now does not wait for calls:
// one may itself wait for the denial, as a second edit of a file does.
func (t *opencodeTurn) release(now bool) {
	if t.approvals.pending()+len(t.waiting) > 0 || !now && slices.ContainsFunc(t.held, t.accompanied) {
		return
	}
	for _, q := range t.held {
		t.tell(opencodeDenial(q.key, q.request, q.decision.Reason))
	}
	t.held = nil
}

// accompanied says whether a call beside that of q may still ask.
func (t *opencodeTurn) accompanied(q *asked) bool {
	own := t.log.calls[q.request.ToolID]
	if own == nil {
		return false
	}
	for _, c := range t.log.calls {
		if c.message == own.message && !c.decided && c.action != ActionTask {
			return true
		}
	}
	return false
}

func opencodeDenial(key string, r ApprovalRequest, reason string) opencodeReply {
	if len(r.Questions) > 0 {
		return opencodeReply{path: "/question/" + key + "/reject", body: map[string]any{}}
	}
	// Without a message the turn would end.
	return opencodeReply{path: "/permission/" + key + "/reply", body: map[string]any{"reply": "reject", "message": reason}}
}

func opencodeAnswers(r ApprovalRequest, d Decision) [][]string {
	answers := make([][]string, len(r.Questions))
	for i, q := range r.Questions {
		answers[i] = append([]string{}, d.Answers[q.ID]...)
	}
	return answers
}

// tell queues an answer. A server that takes none is given up.
func (t *opencodeTurn) tell(r opencodeReply) {
	select {
	case t.replies <- r:
	default:
		t.stop(stop{end: EndFailed, code: codeCrashed, message: "the agent does not take answers"})
	}
}

// reply sends answers, in their order: an approval must be there before a denial.
func (t *opencodeTurn) reply() {
	for {
		select {
		case <-t.ctx.Done():
			return
		case r := <-t.replies:
			if r.last {
				t.abort(r)
				return
			}
			err := t.server.call(t.ctx, http.MethodPost, r.path, r.body, nil)
			if gone, ok := errors.AsType[*opencodeRefusedError](err); err == nil || ok && gone.status == http.StatusNotFound {
				continue // 404: the server had denied it with another one
			}
			t.post(func() { t.unheard(err) })
		}
	}
}

// unheard ends a turn that waits for an answer it did not get.
func (t *opencodeTurn) unheard(err error) {
	if t.state == turnRunning && !t.end.over {
		t.stop(stop{end: EndFailed, code: codeCrashed, message: "the agent did not take an answer: " + err.Error()})
	}
}
