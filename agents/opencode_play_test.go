package agents_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/sandbox"
)

// opencodeSession is the session of the played server.
const opencodeSession = "ses_main"

// opencodePlay plays Opencode's server in the box, for what the real one cannot
// be made to say. script runs once the prompt has arrived; the stream of events
// stays open until the turn ends, or until script returns false.
type opencodePlay struct {
	t      *testing.T
	script func(s *opencodePlay) bool
	lines  []string                       // the CLI prints; nil for the port
	handle func(http.ResponseWriter) bool // answers instead, for any request, where it returns true

	server *httptest.Server
	out    chan string   // raw bytes for the stream
	posts  chan post     // answers and aborts
	prompt chan struct{} // closed by the prompt
	gone   chan struct{} // closed when the CLI has ended

	mu   sync.Mutex
	body map[string]json.RawMessage // of the prompt
	env  []string
	argv []string
}

// post is a request that tells the server something.
type post struct {
	path string
	body string
}

func playOpencode(t *testing.T, turn agents.Turn, h *recorder, p *opencodePlay) (agents.Outcome, error) {
	t.Helper()
	return p.run(t.Context(), t, turn, h)
}

func mustPlayOpencode(t *testing.T, h *recorder, script func(s *opencodePlay) bool) agents.Outcome {
	t.Helper()
	o, err := playOpencode(t, agents.Turn{Prompt: "go", Model: "m-1"}, h, &opencodePlay{script: script})
	if err != nil {
		t.Fatalf("run: %v (%+v)", err, o)
	}
	return o
}

func (p *opencodePlay) run(ctx context.Context, t *testing.T, turn agents.Turn, h *recorder) (agents.Outcome, error) {
	t.Helper()
	p.t = t
	p.out, p.posts, p.prompt, p.gone = make(chan string), make(chan post, 100), make(chan struct{}), make(chan struct{})
	p.server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.server.Close)
	if p.lines == nil {
		p.lines = []string{"opencode server listening on http://127.0.0.1:4096"}
	}
	a, ok := agents.Lookup("OPENCODE")
	if !ok {
		t.Fatal("opencode is not registered")
	}
	turn.Wire, turn.BaseURL, turn.Token = agents.WireAnthropicMessages, "http://127.0.0.1:1", placeholder
	if turn.Dial == nil {
		turn.Dial = func(ctx context.Context, port int) (net.Conn, error) {
			if port != 4096 {
				return nil, fmt.Errorf("dialled port %d", port)
			}
			return new(net.Dialer).DialContext(ctx, "tcp", p.server.Listener.Addr().String())
		}
	}
	return a.Run(ctx, p, turn, h)
}

// Exec implements sandbox.Sandbox: the CLI prints its port and ends with its input.
func (p *opencodePlay) Exec(ctx context.Context, c sandbox.Command) (sandbox.Exit, error) {
	defer close(p.gone)
	p.mu.Lock()
	p.env, p.argv = c.Env, c.Argv
	p.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { _ = c.Stdin.(io.Closer).Close() })
	defer stop()
	for _, l := range p.lines {
		_, _ = io.WriteString(c.Stdout, l+"\n")
	}
	_, _ = io.Copy(io.Discard, c.Stdin)
	if ctx.Err() != nil {
		return sandbox.Exit{}, context.Cause(ctx)
	}
	return sandbox.Exit{Code: 137}, nil
}

func (*opencodePlay) Stdio() io.ReadWriteCloser   { return nil }
func (*opencodePlay) Close(context.Context) error { return nil }

func (p *opencodePlay) serve(w http.ResponseWriter, r *http.Request) {
	if user, password, ok := r.BasicAuth(); !ok || user != "opencode" || len(password) < 20 {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if p.handle != nil && p.handle(w) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/global/health":
		_, _ = io.WriteString(w, `{"healthy":true,"version":"9.9.9"}`)
	case r.URL.Path == "/session" || strings.HasPrefix(r.URL.Path, "/session/") && r.Method == http.MethodGet:
		_, _ = io.WriteString(w, `{"id":"`+opencodeSession+`"}`)
	case r.URL.Path == "/event":
		p.stream(w, r)
	case strings.HasSuffix(r.URL.Path, "/prompt_async"):
		b, _ := io.ReadAll(r.Body)
		p.mu.Lock()
		_ = json.Unmarshal(b, &p.body)
		p.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
		close(p.prompt)
	default:
		b, _ := io.ReadAll(r.Body)
		p.posts <- post{r.URL.Path, string(b)}
		_, _ = io.WriteString(w, "true")
	}
}

// stream lets the script speak.
func (p *opencodePlay) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.(http.Flusher).Flush()
	ended := make(chan bool, 1)
	go func() {
		select {
		case <-p.prompt:
			ended <- p.script(p)
		case <-r.Context().Done():
			ended <- false
		}
	}()
	for {
		select {
		case text := <-p.out:
			_, _ = io.WriteString(w, text)
			w.(http.Flusher).Flush()
		case stay := <-ended:
			if !stay {
				return
			}
			ended = nil
		case <-r.Context().Done():
			return
		}
	}
}

// raw writes bytes into the stream; nobody hears them after the turn's end.
func (p *opencodePlay) raw(text string) {
	select {
	case p.out <- text:
	case <-p.gone:
	}
}

// say writes events, each given as type and properties.
func (p *opencodePlay) say(events ...string) {
	for _, e := range events {
		kind, properties, _ := strings.Cut(e, " ")
		p.raw(`data: {"id":"evt_1","type":"` + kind + `","properties":` + properties + "}\n\n")
	}
}

// heard is the next thing the server was told.
func (p *opencodePlay) heard() post {
	select {
	case x := <-p.posts:
		return x
	case <-p.gone:
	}
	select {
	case x := <-p.posts:
		return x
	default:
		return post{}
	}
}

// Events of a turn.
const (
	opencodeBusy   = `session.status {"sessionID":"ses_main","status":{"type":"busy"}}`
	opencodeIdle   = `session.idle {"sessionID":"ses_main"}`
	opencodeAnswer = `message.updated {"sessionID":"ses_main","info":{"id":"msg_1","role":"assistant","modelID":"m-1"}}`
	opencodeStop   = `message.updated {"sessionID":"ses_main","info":{"id":"msg_1","role":"assistant","modelID":"m-1","finish":"stop"}}`
)

func opencodeText(id, text string) string {
	return `message.part.updated {"sessionID":"ses_main","part":{"id":"` + id + `","messageID":"msg_1","sessionID":"ses_main","type":"text","text":"` + text + `","time":{"start":1,"end":2}}}`
}

func opencodeCall(id, tool, state string) string {
	return `message.part.updated {"sessionID":"ses_main","part":{"id":"` + id + `","messageID":"msg_1","sessionID":"ses_main","type":"tool","tool":"` + tool + `","callID":"c-` + id + `","state":` + state + `}}`
}

func opencodeAsk(id, permission, part string) string {
	return `permission.asked {"id":"` + id + `","sessionID":"ses_main","permission":"` + permission + `","patterns":["x"],"metadata":{},"always":["*"],"tool":{"messageID":"msg_1","callID":"c-` + part + `"}}`
}

func opencodeFail(name, data string) string {
	return `session.error {"sessionID":"ses_main","error":{"name":"` + name + `","data":` + data + `}}`
}

// finish is a turn that ends well.
func (p *opencodePlay) finish() bool {
	p.say(opencodeBusy, opencodeAnswer, opencodeText("prt_end", "done"), opencodeStop, opencodeIdle)
	return true
}
