package agents

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// opencodeReplies is how many answers may wait for the server to take them.
	opencodeReplies = 2 * maxApprovals
	// opencodeAbort is how long a stopped turn may take until the server is
	// killed; it needs 0.1 s. stopGrace is longer.
	opencodeAbort = 1500 * time.Millisecond
)

// Ids of the server that become part of a path.
var (
	opencodeSessionID = regexp.MustCompile(`^ses_[A-Za-z0-9]{1,64}$`)
	opencodeRequestID = regexp.MustCompile(`^(per|que)_[A-Za-z0-9]{1,64}$`)
)

// opencodeTurn is one turn of Opencode. All but link and reply, which have
// goroutines of their own, happens in the goroutine of drive.
type opencodeTurn struct {
	*conversation
	setup opencodeSetup

	ctx    context.Context //nolint:containedctx // of the connection: it outlives the turn's, for the abort
	cancel context.CancelFunc
	group  sync.WaitGroup
	server *opencodeServer // nil until the port is known
	log    opencodeLog
	end    opencodeEnd
	held   []*asked // denials that wait for other calls, see release
	// waiting are requests that came before the call they are about.
	waiting []opencodeWaiting

	replies chan opencodeReply
	running atomic.Int32  // calls that run by themselves, which the server says nothing about
	quiet   chan struct{} // closed by the session's end
	version string
	model   string
	session string
}

func newOpencodeTurn(ctx context.Context, c *conversation, s opencodeSetup) *opencodeTurn {
	t := &opencodeTurn{
		conversation: c, setup: s, log: newOpencodeLog(),
		replies: make(chan opencodeReply, opencodeReplies), quiet: make(chan struct{}),
	}
	t.ctx, t.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if c.turn.Resume {
		t.session = c.turn.SessionID
	}
	c.peer = t
	return t
}

// close ends the connections and waits for all that uses them.
func (t *opencodeTurn) close() {
	t.cancel()
	t.group.Wait()
	if t.server != nil {
		t.server.close()
	}
}

// hello has nothing to say yet: the server tells its port first.
func (t *opencodeTurn) hello() {}

func (t *opencodeTurn) line(_ context.Context, text []byte) {
	port, ok := opencodePort(text)
	if !ok || t.server != nil {
		t.strange(text)
		return
	}
	t.server = newOpencodeServer(t.turn.Dial, port, t.setup.password)
	if t.state != turnRunning {
		return
	}
	t.group.Go(t.link)
	t.group.Go(t.reply)
}

// link brings the prompt to the server and then reads events until they end.
func (t *opencodeTurn) link() {
	stream, err := t.begin()
	if err == nil {
		defer stream.close()
		err = t.read(stream)
	}
	t.post(func() { t.disconnected(err) })
}

// begin makes everything ready, in the order in which nothing is missed, and
// sends the prompt.
func (t *opencodeTurn) begin() (*opencodeStream, error) {
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
	t.post(func() { t.version, t.session = version, session })
	err = t.server.call(t.ctx, http.MethodPost, "/session/"+session+"/prompt_async", map[string]any{
		"agent": t.setup.agent, "parts": []map[string]string{{"type": "text", "text": t.turn.Prompt}},
	}, nil)
	if err != nil {
		stream.close()
		return nil, fmt.Errorf("send the prompt: %w", err)
	}
	return stream, nil
}

// open finds the session to go on with, or makes one. One without a title would
// ask the model for it.
func (t *opencodeTurn) open() (string, error) {
	var s struct {
		ID string `json:"id"`
	}
	var err error
	switch id := t.turn.SessionID; {
	case !t.turn.Resume:
		err = t.server.call(t.ctx, http.MethodPost, "/session", map[string]any{"title": "task"}, &s)
	case !opencodeSessionID.MatchString(id):
		err = errors.New("it has another form")
	default:
		err = t.server.call(t.ctx, http.MethodGet, "/session/"+id, nil, &s)
		if err == nil && s.ID != id {
			err = errors.New("the answer is about another one")
		}
	}
	if err == nil && !opencodeSessionID.MatchString(s.ID) {
		err = errors.New("no id in the answer")
	}
	if err != nil {
		return "", fmt.Errorf("open the session: %w", err)
	}
	return s.ID, nil
}

// read passes events on. The server's heartbeat tells nothing about the model;
// it counts while a call runs that may be quiet.
func (t *opencodeTurn) read(stream *opencodeStream) error {
	for {
		l, err := stream.next()
		if err != nil {
			return fmt.Errorf("read events: %w", err)
		}
		if t.running.Load() == 0 && opencodeBeat(l.text) {
			continue
		}
		t.post(func() {
			if l.dropped > 0 {
				t.emit(KindTruncated, Truncated{What: "an event of the agent", Bytes: l.dropped})
				return
			}
			t.event(t.ctx, l.text)
		})
	}
}

// opencodeBeat says whether an event is only the server's heartbeat.
func opencodeBeat(text []byte) bool {
	var e opencodeEventFrame
	return len(text) < 1<<10 && decode(text, &e) == nil && e.Type == "server.heartbeat"
}

// disconnected ends a turn whose server cannot be reached any more.
func (t *opencodeTurn) disconnected(err error) {
	if t.end.over || t.state != turnRunning {
		return
	}
	t.end.lost = err
	t.finish()
}

// interrupt aborts what the session does, after the denials, which ends its
// commands, and lets the server be killed when it has.
func (t *opencodeTurn) interrupt() {
	t.told("") // nothing is asked any more: this denies them
	t.release(true)
	if t.server == nil || t.session == "" {
		t.closeInput()
		return
	}
	t.tell(opencodeReply{path: "/session/" + t.session + "/abort", last: true})
}

// abort makes the last request of a stopped turn and waits for the session's end.
func (t *opencodeTurn) abort(r opencodeReply) {
	ctx, cancel := context.WithTimeout(t.ctx, opencodeAbort)
	defer cancel()
	if t.server.call(ctx, http.MethodPost, r.path, nil, nil) == nil {
		select {
		case <-t.quiet:
		case <-ctx.Done():
		}
	}
	t.post(t.finish)
}

// patience is short where an error came and nothing will follow, where a call
// is to be told, and where a denial waits for one.
func (t *opencodeTurn) patience() (time.Duration, bool) {
	if len(t.waiting)+len(t.held) > 0 {
		return opencodeCallWait, true
	}
	return lingerGrace, t.end.err != nil && !t.end.began && !t.end.over
}

// overdue asks about calls as far as they are known, sends denials that waited
// for another call, or ends a turn that never began.
func (t *opencodeTurn) overdue() {
	switch {
	case len(t.waiting) > 0:
		t.told("")
	case len(t.held) > 0:
		t.release(true)
	default:
		t.finish()
	}
}
