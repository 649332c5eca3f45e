package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"

	"sandboxrun/agents/cli"

	acp "github.com/coder/acp-go-sdk"
)

// connection is the SDK's connection, run in step with the goroutine of a turn: it
// gets one line at a time and is waited for until it has handed over what it
// read, and everything it writes is waited for too. So messages keep their
// order, there are never more goroutines than open requests, and all state of a
// turn stays in one goroutine. The SDK alone would start a goroutine for every
// request of the agent, deliver requests before notifications that came
// earlier, and give up after 1024 unread notifications.
//
// Lines are read here first, and only those are passed on of which it is known
// that the SDK hands them over.
type connection struct {
	conn    *acp.Connection
	alive   func() context.Context // of requests: they end with the connection only
	lines   *io.PipeWriter
	heard   chan agentMessage
	written chan []byte
	closed  chan struct{}
	group   sync.WaitGroup
	id      string // of our open request, "" for none
}

// agentMessage is one message of the agent.
type agentMessage struct {
	request bool            // it is to be answered
	answers bool            // it answers our request
	id      json.RawMessage // of a request
	method  string          // of a request or notification
	params  json.RawMessage
	result  json.RawMessage // of an answer, where fault is nil
	fault   *acp.RequestError
	reply   chan requestReply
}

// requestReply is an answer to a request.
type requestReply struct {
	result any
	fault  *acp.RequestError
}

// envelope is what every message has.
type envelope struct {
	Version string            `json:"jsonrpc"`
	ID      *json.RawMessage  `json:"id,omitempty"`
	Method  string            `json:"method,omitempty"`
	Params  json.RawMessage   `json:"params,omitempty"`
	Result  json.RawMessage   `json:"result,omitempty"`
	Error   *acp.RequestError `json:"error,omitempty"`
}

// maxID bounds the id of a request, in bytes of JSON.
const maxID = 256

var errClosed = errors.New("the connection is closed")

func newConnection(ctx context.Context) *connection {
	r, w := io.Pipe()
	l := &connection{
		alive: func() context.Context { return context.WithoutCancel(ctx) },
		lines: w, heard: make(chan agentMessage), written: make(chan []byte), closed: make(chan struct{}),
	}
	l.conn = acp.NewConnection(l.handle, l, r)
	l.conn.SetLogger(slog.New(slog.DiscardHandler)) // it would log what the agent sent
	return l
}

// dead says that the connection takes no more lines.
func (l *connection) dead() bool {
	select {
	case <-l.conn.Done():
		return true
	default:
		return false
	}
}

// close ends the connection and returns when no goroutine of ours is in it.
func (l *connection) close() {
	close(l.closed)
	_ = l.lines.Close()
	<-l.conn.Done()
	l.group.Wait()
}

// read takes one line of the agent. ok is false for one that is no message of
// the protocol, or answers nothing that was asked.
func (l *connection) read(text []byte) (m agentMessage, ok bool) {
	var e envelope
	if cli.Depth(text) > cli.MaxDepth || json.Unmarshal(text, &e) != nil {
		return m, false
	}
	switch {
	case e.ID == nil && e.Method == "", e.ID == nil && e.Method == "$/cancel_request":
		return m, false
	case e.ID != nil && e.Method == "" && (l.id == "" || string(*e.ID) != l.id || e.Error == nil && e.Result == nil):
		return m, false
	case e.ID != nil && e.Method != "" && !validID(*e.ID):
		return m, false
	}
	e.Version = "2.0"
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)  // it must not grow beyond what the SDK takes
	if enc.Encode(e) != nil { //nolint:errchkjson // its raw messages were read a moment ago
		return m, false
	}
	if _, err := l.lines.Write(b.Bytes()); err != nil {
		return m, false
	}
	select {
	case m = <-l.heard:
	case <-l.conn.Done():
		return m, false
	}
	switch {
	case m.answers:
		l.id = ""
	case e.ID == nil:
		m.reply <- requestReply{}
	default:
		m.request, m.id = true, *e.ID
	}
	if e.Method != "" {
		m.params = e.Params
	}
	return m, true
}

// validID says whether id can name a request: a JSON string or number. It may be
// 0, and it may be the empty string.
func validID(id json.RawMessage) bool {
	var text string
	var number json.Number
	return len(id) <= maxID && (json.Unmarshal(id, &number) == nil || json.Unmarshal(id, &text) == nil)
}

// handle is called by the SDK, in a goroutine of its own for each request.
func (l *connection) handle(_ context.Context, method string, params json.RawMessage) (any, *acp.RequestError) {
	l.group.Add(1)
	defer l.group.Done()
	m := agentMessage{method: method, params: params, reply: make(chan requestReply, 1)}
	if !l.hand(m) {
		return nil, acp.NewInternalError(nil)
	}
	select {
	case r := <-m.reply:
		return r.result, r.fault
	case <-l.closed:
		return nil, acp.NewInternalError(nil)
	}
}

func (l *connection) hand(m agentMessage) bool {
	select {
	case l.heard <- m:
		return true
	case <-l.closed:
		return false
	}
}

// Write is called by the SDK with one message.
func (l *connection) Write(b []byte) (int, error) {
	select {
	case l.written <- bytes.Clone(b):
		return len(b), nil
	case <-l.closed:
		return 0, errClosed
	}
}

// answer makes the answer to a request of the agent; nil when there is none to send.
func (l *connection) answer(m agentMessage, result any, fault *acp.RequestError) json.RawMessage {
	m.reply <- requestReply{result: result, fault: fault}
	return l.take()
}

// request makes a request; nil when it cannot be made. Its answer comes out of
// read; there is one at a time.
func (l *connection) request(method string, params any) json.RawMessage {
	body, err := json.Marshal(params) // the SDK writes nothing where this fails
	if err != nil {
		return nil
	}
	l.group.Go(func() {
		result, err := acp.SendRequest[json.RawMessage](l.conn, l.alive(), method, json.RawMessage(body))
		m := agentMessage{answers: true, result: result}
		if err != nil && !errors.As(err, &m.fault) {
			m.fault = acp.NewInternalError(err.Error())
		}
		l.hand(m)
	})
	b := l.take()
	var e envelope
	if json.Unmarshal(b, &e) == nil && e.ID != nil {
		l.id = string(*e.ID)
	}
	return b
}

// notify makes a notification; nil when it cannot be made.
func (l *connection) notify(method string, params any) json.RawMessage {
	body, err := json.Marshal(params)
	if err != nil {
		return nil
	}
	l.group.Go(func() {
		// All that can fail is Write, and then nothing reads any more.
		_ = l.conn.SendNotification(l.alive(), method, json.RawMessage(body))
	})
	return l.take()
}

// take is the message the SDK writes.
func (l *connection) take() json.RawMessage {
	select {
	case b := <-l.written:
		return b
	case <-l.conn.Done():
		return nil
	}
}
