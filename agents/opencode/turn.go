package opencode

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// Hello has nothing to say yet: the server tells its port first.
func (t *peer) Hello() {}

func (t *peer) Line(_ context.Context, text []byte) {
	port, ok := t.program.portOf(text)
	if !ok || t.server != nil {
		t.EmitUnknown(text)
		return
	}
	t.server = newBoxServer(t.Turn.Dial, port, t.setup.password)
	if !t.Running() {
		return
	}
	t.group.Go(t.link)
	t.group.Go(t.reply)
}

// link brings the prompt to the server and then reads events until they end.
func (t *peer) link() {
	stream, err := t.begin()
	if err == nil {
		defer stream.close()
		err = t.read(stream)
	}
	t.Post(func() { t.disconnected(err) })
}

// begin makes everything ready, in the order in which nothing is missed, and
// sends the prompt.
func (t *peer) begin() (*eventStream, error) {
	version, err := t.server.version(t.ctx)
	if err != nil {
		return nil, err
	}
	stream, err := t.server.subscribe(t.ctx)
	if err != nil {
		return nil, fmt.Errorf("subscribe to events: %w", err)
	}
	session, err := t.open()
	if err != nil {
		stream.close()
		return nil, err
	}
	t.Post(func() { t.version, t.session = version, session })
	if err := t.connect(); err != nil {
		stream.close()
		return nil, err
	}
	r := t.prompt(session, t.Turn.Prompt)
	err = t.server.call(t.ctx, http.MethodPost, r.path, r.body, nil)
	if err != nil {
		stream.close()
		return nil, fmt.Errorf("send the prompt: %w", err)
	}
	return stream, nil
}

// open finds the session to go on with, or makes one. One without a title would
// ask the model for it.
func (t *peer) open() (string, error) {
	var s struct {
		ID string `json:"id"`
	}
	var err error
	switch id := t.Turn.SessionID; {
	case !t.Turn.Resume:
		err = t.server.call(t.ctx, http.MethodPost, "/session", map[string]any{"title": "task"}, &s)
	case !sessionIDPattern.MatchString(id):
		err = errors.New("it has another form")
	default:
		err = t.server.call(t.ctx, http.MethodGet, "/session/"+id, nil, &s)
		if err == nil && s.ID != id {
			err = errors.New("the answer is about another one")
		}
	}
	if err == nil && !sessionIDPattern.MatchString(s.ID) {
		err = errors.New("no id in the answer")
	}
	if err != nil {
		return "", fmt.Errorf("open the session: %w", err)
	}
	return s.ID, nil
}

// read passes events on. The server's heartbeat tells nothing about the model;
// it counts while a call runs that may be quiet.
func (t *peer) read(stream *eventStream) error {
	for {
		l, err := stream.next()
		if err != nil {
			return fmt.Errorf("read events: %w", err)
		}
		if t.busyCalls.Load() == 0 && isHeartbeat(l.Text) {
			continue
		}
		t.Post(func() {
			if l.Dropped > 0 {
				t.Emit(agents.KindTruncated, agents.Truncated{What: "an event of the agent", Bytes: l.Dropped})
				return
			}
			t.event(t.ctx, l.Text)
		})
	}
}

// isHeartbeat says whether an event is only the server's heartbeat.
func isHeartbeat(text []byte) bool {
	var e eventFrame
	return len(text) < 1<<10 && cli.Decode(text, &e) == nil && e.Type == "server.heartbeat"
}

// disconnected ends a turn whose server cannot be reached any more.
func (t *peer) disconnected(err error) {
	if t.end.over || !t.Running() {
		return
	}
	t.end.lost = err
	t.Finish()
}

// Interrupt aborts what the session does, after the denials, which ends its
// commands, and lets the server be killed when it has.
func (t *peer) Interrupt() {
	t.told("") // nothing is asked any more: this denies them
	t.release(true)
	if t.server == nil || t.session == "" {
		t.CloseInput()
		return
	}
	t.tell(requestReply{path: "/session/" + t.session + "/abort", last: true})
}

// Patience is short where an error came and nothing will follow, where a call
// is to be told, and where a denial waits for one.
func (t *peer) Patience() (time.Duration, bool) {
	if len(t.waiting)+len(t.held) > 0 {
		return t.bounds.call, true
	}
	return t.bounds.begin, t.end.err != nil && !t.end.began && !t.end.over
}

// Overdue asks about calls as far as they are known, sends denials that waited
// for another call, or ends a turn that never began.
func (t *peer) Overdue() {
	switch {
	case len(t.waiting) > 0:
		t.told("")
	case len(t.held) > 0:
		t.release(true)
	default:
		t.Finish()
	}
}
