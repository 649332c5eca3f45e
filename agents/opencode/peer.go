package opencode

import (
	"context"
	"net/http"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

const (
	// maxReplies is how many answers may wait for the server to take them.
	maxReplies = 2 * cli.MaxApprovals
	// abortGrace is how long a stopped turn may take until the server is
	// killed; it needs 0.1 s. stopGrace is longer.
	abortGrace = 1500 * time.Millisecond
)

// Ids of the server that become part of a path.
var (
	sessionIDPattern = regexp.MustCompile(`^ses_[A-Za-z0-9]{1,64}$`)
	requestIDPattern = regexp.MustCompile(`^(per|que)_[A-Za-z0-9]{1,64}$`)
)

// bounds are the waits of a turn that end by the clock.
type bounds struct {
	// call is how long a request may wait for its call to be reported, and a denial
	// for the calls next to it: long enough for a busy machine, since what was
	// allowed is lost otherwise.
	call time.Duration
	// begin is how long a session with an error may stay without beginning.
	begin time.Duration
	// retry is how long a provider is left alone whose connection broke, for each
	// time that one did.
	retry time.Duration
}

var defaultBounds = bounds{call: 10 * time.Second, begin: cli.LingerGrace, retry: time.Second}

// peer is one turn of the program. All but link and reply, which have
// goroutines of their own, happens in the goroutine of drive.
type peer struct {
	*cli.Conversation
	program *program
	bounds  bounds
	setup   serverSetup

	ctx    context.Context //nolint:containedctx // of the connection: it outlives the turn's, for the abort
	cancel context.CancelFunc
	group  sync.WaitGroup
	server *boxServer // nil until the port is known
	log    callLog
	end    ending
	held   []*cli.Asked // denials that wait for other calls, see release
	// waiting are requests that came before the call they are about.
	waiting []waitingAsk

	replies   chan requestReply
	busyCalls atomic.Int32  // calls that run by themselves, which the server says nothing about
	quiet     chan struct{} // closed by the session's end
	version   string
	model     string
	session   string
}

func newPeer(ctx context.Context, p *program, c *cli.Conversation, s serverSetup) *peer {
	t := &peer{
		Conversation: c, program: p, setup: s, log: newCallLog(),
		replies: make(chan requestReply, maxReplies), quiet: make(chan struct{}),
	}
	t.ctx, t.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if c.Turn.Resume {
		t.session = c.Turn.SessionID
	}
	c.Peer = t
	return t
}

// close ends the connections and waits for all that uses them.
func (t *peer) close() {
	t.cancel()
	t.group.Wait()
	if t.server != nil {
		t.server.close()
	}
}

// prompt is the request that gives the model a prompt.
func (t *peer) prompt(session, text string) requestReply {
	body := map[string]any{"agent": t.setup.agent, "parts": []map[string]string{{"type": "text", "text": text}}}
	if t.setup.system != "" {
		body["system"] = t.setup.system
	}
	return requestReply{path: "/session/" + session + "/prompt_async", body: body}
}

// abort makes the last request of a stopped turn and waits for the session's end.
func (t *peer) abort(r requestReply) {
	ctx, cancel := context.WithTimeout(t.ctx, abortGrace)
	defer cancel()
	if t.server.call(ctx, http.MethodPost, r.path, nil, nil) == nil {
		select {
		case <-t.quiet:
		case <-ctx.Done():
		}
	}
	t.Post(t.Finish)
}

// tell queues an answer. A server that takes none is given up.
func (t *peer) tell(r requestReply) {
	select {
	case t.replies <- r:
	default:
		t.Stop(cli.StopReason{End: agents.EndFailed, Code: agents.CodeCrashed, Message: "the agent does not take answers"})
	}
}

// requestReply answers a request.
type requestReply struct {
	path string
	body any
	wait time.Duration // before it is sent
	last bool          // it aborts the turn
}

// waitingAsk is a request that came before its call.
type waitingAsk struct {
	id, call   string
	properties []byte
	put        func() bool
}

// ending collects how a turn ends.
type ending struct {
	began  bool          // the session was busy with the prompt
	over   bool          // and is not any more
	err    *sessionError // the last one, if the model did not speak afterwards
	lost   error         // of the connection
	finish string        // how the last message of the model ended
	words  string        // of that message
	from   string        // its id
	total  agents.Usage
	clock  boxClock
	breaks int // of the connection to the provider
}

// speaks notes that the model begins another message.
func (e *ending) speaks() { e.err, e.finish = nil, "" }

// said collects the text of one message.
func (e *ending) said(message, text string) {
	if e.from != message {
		e.from, e.words = message, ""
	}
	e.words = cli.Head(e.words+text, cli.MaxWords)
}

func (e *ending) usage(p messagePart) {
	e.total.InputTokens += p.Tokens.Input
	e.total.OutputTokens += p.Tokens.Output + p.Tokens.Reasoning
	e.total.CacheReadTokens += p.Tokens.Cache.Read
	e.total.CacheWriteTokens += p.Tokens.Cache.Write
	e.total.Turns++
	e.total.CostUSD += p.Cost
}

// messagePart is a part of a message; the fields of all kinds of parts.
type messagePart struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Message   string `json:"messageID"`
	Session   string `json:"sessionID"`
	Text      string `json:"text"`
	Synthetic bool   `json:"synthetic"` // made by the CLI
	Time      struct {
		End int64 `json:"end"`
	} `json:"time"`
	// of a tool
	Tool  string    `json:"tool"`
	Call  string    `json:"callID"`
	State toolState `json:"state"`
	// of step-finish
	Cost   float64     `json:"cost"`
	Tokens *stepTokens `json:"tokens"`
}

// stepTokens counts one step. Input is without what came from the cache,
// output without reasoning.
type stepTokens struct {
	Input     int64 `json:"input"`
	Output    int64 `json:"output"`
	Reasoning int64 `json:"reasoning"`
	Cache     struct {
		Read  int64 `json:"read"`
		Write int64 `json:"write"`
	} `json:"cache"`
}
