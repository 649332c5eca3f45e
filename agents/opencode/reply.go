package opencode

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// Answer tells the server what was decided. A denial makes it deny whatever else
// is asked in the session, so denials wait for the calls next to them.
func (t *peer) Answer(q *cli.Asked, d agents.Decision) {
	q.Decision = d
	t.decided(q)
	switch {
	case !d.Allow:
		t.held = append(t.held, q)
	case len(q.Request.Questions) > 0:
		t.tell(requestReply{path: "/question/" + q.Key + "/reply", body: map[string]any{"answers": answersOf(q.Request, d)}})
	default:
		t.tell(requestReply{path: "/permission/" + q.Key + "/reply", body: map[string]any{"reply": "once"}})
	}
	t.release(t.Stopping())
}

func (t *peer) decided(q *cli.Asked) {
	if c := t.log.calls[q.Request.ToolID]; c != nil {
		c.decided = true
	}
}

// release sends the denials that waited, once nothing is asked and every call of
// the same message has been asked about or is over. now does not wait for calls:
// one may itself wait for the denial, as a second edit of a file does.
func (t *peer) release(now bool) {
	if t.Pending()+len(t.waiting) > 0 || !now && slices.ContainsFunc(t.held, t.accompanied) {
		return
	}
	for _, q := range t.held {
		t.tell(denialReply(q.Key, q.Request, q.Decision.Reason))
	}
	t.held = nil
}

// accompanied reports whether a call next to that of q may still ask.
func (t *peer) accompanied(q *cli.Asked) bool {
	own := t.log.calls[q.Request.ToolID]
	if own == nil {
		return false
	}
	for _, c := range t.log.calls {
		if c.message == own.message && !c.decided && c.action != agents.ActionTask {
			return true
		}
	}
	return false
}

func denialReply(key string, r agents.ApprovalRequest, reason string) requestReply {
	if len(r.Questions) > 0 {
		return requestReply{path: "/question/" + key + "/reject", body: map[string]any{}}
	}
	// Without a message the turn would end.
	return requestReply{path: "/permission/" + key + "/reply", body: map[string]any{"reply": "reject", "message": reason}}
}

func answersOf(r agents.ApprovalRequest, d agents.Decision) [][]string {
	answers := make([][]string, len(r.Questions))
	for i, q := range r.Questions {
		answers[i] = append([]string{}, d.Answers[q.ID]...)
	}
	return answers
}

// reply sends answers, in their order: an approval must be there before a denial.
func (t *peer) reply() {
	for {
		select {
		case <-t.ctx.Done():
			return
		case r := <-t.replies:
			if r.wait > 0 {
				select {
				case <-t.ctx.Done():
					return
				case <-time.After(r.wait):
				}
			}
			if r.last {
				t.abort(r)
				return
			}
			err := t.server.call(t.ctx, http.MethodPost, r.path, r.body, nil)
			if gone, ok := errors.AsType[*refusedError](err); err == nil || ok && gone.status == http.StatusNotFound {
				continue // 404: the server had denied it together with another one
			}
			t.Post(func() { t.unheard(err) })
		}
	}
}

// unheard ends a turn that waits for an answer it did not get.
func (t *peer) unheard(err error) {
	if t.Running() && !t.end.over {
		t.Stop(cli.StopReason{End: agents.EndFailed, Code: agents.CodeCrashed, Message: "the agent did not take an answer: " + err.Error()})
	}
}

// told puts the requests to the host that waited for a call, or all.
func (t *peer) told(call string) {
	var rest []waitingAsk
	all := t.waiting
	t.waiting = nil
	for _, w := range all {
		if call != "" && w.call != call {
			rest = append(rest, w)
			continue
		}
		if !w.put() {
			t.EmitUnknown(w.properties)
		}
	}
	t.waiting = append(t.waiting, rest...)
}

// toolRef names the call a request is about.
type toolRef struct {
	Message string `json:"messageID"`
	Call    string `json:"callID"`
}

func (r toolRef) key() string { return r.Message + "/" + r.Call }
