package opencode_test

import (
	"cmp"
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
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
	"sandboxrun/agents/opencode"
	"sandboxrun/internal/wire"
	"sandboxrun/sandbox"
)

// sessionID is the session of the played server.
const sessionID = "ses_main"

// playedServer plays the program's server in the box, for what the real one cannot
// be made to say. script runs once the prompt has arrived; the stream of events
// stays open until the turn ends, or until script returns false.
type playedServer struct {
	t      *testing.T
	agent  string // OPENCODE where it is empty
	script func(s *playedServer) bool
	lines  []string                       // the CLI prints; nil for the port
	handle func(http.ResponseWriter) bool // answers instead, for any request, where it returns true
	wait   time.Duration                  // instead of the waits that end by the clock
	mcp    []string                       // answers about MCP servers, one after the other

	server *httptest.Server
	out    chan string   // raw bytes for the stream
	posts  chan post     // answers, aborts and further prompts
	prompt chan struct{} // closed by the first prompt
	gone   chan struct{} // closed when the CLI has ended

	mu   sync.Mutex
	body map[string]json.RawMessage // of the first prompt
	env  []string
	argv []string
}

// post is a request that tells the server something.
type post struct {
	path string
	body string
}

func playTurn(t *testing.T, turn agents.Turn, h *agentstest.Recorder, p *playedServer) (agents.Outcome, error) {
	t.Helper()
	return p.run(t.Context(), t, turn, h)
}

func mustPlay(t *testing.T, h *agentstest.Recorder, script func(s *playedServer) bool) agents.Outcome {
	t.Helper()
	return mustPlayWaiting(t, h, 0, script)
}

// mustPlayWaiting is mustPlay with other waits than those of a real turn, for
// tests in which they are to end.
func mustPlayWaiting(t *testing.T, h *agentstest.Recorder, wait time.Duration, script func(s *playedServer) bool) agents.Outcome {
	t.Helper()
	o, err := playTurn(t, agents.Turn{Prompt: "go", Model: "m-1"}, h, &playedServer{script: script, wait: wait})
	if err != nil {
		t.Fatalf("run: %v (%+v)", err, o)
	}
	return o
}

func (p *playedServer) run(ctx context.Context, t *testing.T, turn agents.Turn, h *agentstest.Recorder) (agents.Outcome, error) {
	t.Helper()
	p.t = t
	p.out, p.posts, p.prompt, p.gone = make(chan string), make(chan post, 100), make(chan struct{}), make(chan struct{})
	p.server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.server.Close)
	a, ok := agents.Lookup(cmp.Or(p.agent, "OPENCODE"))
	if !ok {
		t.Fatalf("%q is not registered", p.agent)
	}
	if p.wait > 0 {
		a = opencode.WithWaits(a, p.wait)
	}
	if p.lines == nil {
		p.lines = []string{a.Info().Binary + " server listening on http://127.0.0.1:4096"}
	}
	turn.Wire, turn.BaseURL, turn.Token = wire.AnthropicMessages, "http://127.0.0.1:1", agentstest.Placeholder
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
func (p *playedServer) Exec(ctx context.Context, c sandbox.Command) (sandbox.Exit, error) {
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

func (*playedServer) Stdio() io.ReadWriteCloser   { return nil }
func (*playedServer) Close(context.Context) error { return nil }

func (p *playedServer) serve(w http.ResponseWriter, r *http.Request) {
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
		_, _ = io.WriteString(w, `{"id":"`+sessionID+`"}`)
	case r.URL.Path == "/mcp":
		p.mu.Lock()
		answer := p.mcp[0]
		p.mcp = p.mcp[1:]
		p.mu.Unlock()
		_, _ = io.WriteString(w, answer)
	case r.URL.Path == "/event":
		p.stream(w, r)
	case strings.HasSuffix(r.URL.Path, "/prompt_async"):
		b, _ := io.ReadAll(r.Body)
		p.mu.Lock()
		again := p.body != nil
		if !again {
			_ = json.Unmarshal(b, &p.body)
		}
		p.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
		if again {
			p.posts <- post{r.URL.Path, string(b)}
			return
		}
		close(p.prompt)
	default:
		b, _ := io.ReadAll(r.Body)
		p.posts <- post{r.URL.Path, string(b)}
		_, _ = io.WriteString(w, "true")
	}
}

// stream lets the script speak.
func (p *playedServer) stream(w http.ResponseWriter, r *http.Request) {
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
func (p *playedServer) raw(text string) {
	select {
	case p.out <- text:
	case <-p.gone:
	}
}

// say writes events, each given as type and properties.
func (p *playedServer) say(events ...string) {
	for _, e := range events {
		kind, properties, _ := strings.Cut(e, " ")
		p.raw(`data: {"id":"evt_1","type":"` + kind + `","properties":` + properties + "}\n\n")
	}
}

// heard is the next thing the server was told.
func (p *playedServer) heard() post {
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
	busyEvent   = `session.status {"sessionID":"ses_main","status":{"type":"busy"}}`
	idleEvent   = `session.idle {"sessionID":"ses_main"}`
	answerEvent = `message.updated {"sessionID":"ses_main","info":{"id":"msg_1","role":"assistant","modelID":"m-1"}}`
	stopEvent   = `message.updated {"sessionID":"ses_main","info":{"id":"msg_1","role":"assistant","modelID":"m-1","finish":"stop"}}`
)

func textEvent(id, text string) string {
	return `message.part.updated {"sessionID":"ses_main","part":{"id":"` + id + `","messageID":"msg_1","sessionID":"ses_main","type":"text","text":"` + text + `","time":{"start":1,"end":2}}}`
}

func callEvent(id, tool, state string) string {
	return `message.part.updated {"sessionID":"ses_main","part":{"id":"` + id + `","messageID":"msg_1","sessionID":"ses_main","type":"tool","tool":"` + tool + `","callID":"c-` + id + `","state":` + state + `}}`
}

func askEvent(id, permission, part string) string {
	return `permission.asked {"id":"` + id + `","sessionID":"ses_main","permission":"` + permission + `","patterns":["x"],"metadata":{},"always":["*"],"tool":{"messageID":"msg_1","callID":"c-` + part + `"}}`
}

func failEvent(name, data string) string {
	return `session.error {"sessionID":"ses_main","error":{"name":"` + name + `","data":` + data + `}}`
}

// finish is a turn that ends well.
func (p *playedServer) finish() bool {
	p.say(busyEvent, answerEvent, textEvent("prt_end", "done"), stopEvent, idleEvent)
	return true
}
