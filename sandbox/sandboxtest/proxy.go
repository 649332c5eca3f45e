package sandboxtest

import (
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// Fault is one way in which a call to an engine fails.
type Fault string

// Faults. A request that is Refused, Deaf or answered with a status never reaches the engine; the engine carries out
// all others, and only its answer fails.
const (
	Refused   Fault = "refused"   // the connection closes, the request never reaches the engine
	Deaf      Fault = "deaf"      // no answer, the request never reaches the engine
	Failing   Fault = "500"       // an internal error of the engine
	Missing   Fault = "404"       // the object is missing
	Conflict  Fault = "409"       // the request is not possible now
	Lost      Fault = "lost"      // the engine carries the request out; the connection closes without an answer
	Silent    Fault = "silent"    // the engine carries the request out; no answer ever comes
	Dripping  Fault = "dripping"  // the answer arrives a byte at a time
	Torn      Fault = "torn"      // the connection closes within the answer
	Ended     Fault = "ended"     // the answer ends early, as if it were complete
	Garbage   Fault = "garbage"   // the answer is something else
	Empty     Fault = "empty"     // the answer is valid and has no content
	Misframed Fault = "misframed" // the frames of a stream are misaligned
)

// Faults lists all of them.
func Faults() []Fault {
	return []Fault{Refused, Deaf, Failing, Missing, Conflict, Lost, Silent, Dripping, Torn, Ended, Garbage, Empty, Misframed}
}

// FaultProxy stands in front of an engine's unix socket and fails on demand. All methods may be called at any time and
// take effect at once, on open connections too.
type FaultProxy struct {
	t      testing.TB
	path   string
	target string
	server *http.Server
	served sync.WaitGroup

	mu       sync.Mutex
	change   chan struct{} // closed and replaced when a setting changes
	hang     bool
	slow     time.Duration // pause before each chunk of an answer
	version  string
	answers  []answer
	after    []afterAnswer
	faults   []injected
	seen     []string // routes
	listener net.Listener
	conns    map[*faultConn]bool
	engine   []net.Conn // connections to the engine, of which streams outlive the server
}

// answer replaces the engine's own answer to matching requests.
type answer struct {
	match  func(*http.Request) bool
	status int
}

// afterAnswer runs when the engine has answered and before the client sees the answer.
type afterAnswer struct {
	match func(*http.Request) bool
	do    func()
}

// Host is the endpoint for an engine, unix://….
func (p *FaultProxy) Host() string { return "unix://" + p.path }

// Refuse makes connecting fail and cuts every connection, as when an engine
// dies. Accept undoes it.
func (p *FaultProxy) Refuse() {
	p.mu.Lock()
	if p.listener != nil {
		_ = p.listener.Close() // Serve may have closed it
		p.listener = nil
	}
	p.mu.Unlock()
	p.Cut()
}

// Accept listens again after Refuse; without one it does nothing.
func (p *FaultProxy) Accept() {
	p.mu.Lock()
	listening := p.listener != nil
	p.mu.Unlock()
	if listening {
		return
	}
	l, err := net.Listen("unix", p.path) //nolint:noctx // does not wait for anything
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	p.listener = l
	p.mu.Unlock()
	p.served.Go(func() {
		if err := p.server.Serve(faultListener{l, p}); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			p.t.Errorf("fault proxy: %v", err)
		}
	})
}

// Cut closes every open connection.
func (p *FaultProxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.drop() // already closed when it fails
	}
}

// Hang stops (or resumes) every byte in both directions, without closing anything: the engine is reachable and silent.
func (p *FaultProxy) Hang(on bool) { p.set(func() { p.hang = on }) }

// Slow makes each chunk of an answer wait; 0 undoes it.
func (p *FaultProxy) Slow(pause time.Duration) { p.set(func() { p.slow = pause }) }

// Version makes the engine claim that API version; "" undoes it.
func (p *FaultProxy) Version(v string) { p.set(func() { p.version = v }) }

// Answer makes matching requests fail with an HTTP status without reaching the engine. Heal undoes it.
func (p *FaultProxy) Answer(status int, match func(*http.Request) bool) {
	p.set(func() { p.answers = append(p.answers, answer{match, status}) })
}

// AfterAnswer calls do when the engine has answered a matching request, before the client sees any of the answer. Heal
// undoes it.
func (p *FaultProxy) AfterAnswer(match func(*http.Request) bool, do func()) {
	p.set(func() { p.after = append(p.after, afterAnswer{match, do}) })
}

// Heal undoes every Answer, AfterAnswer and Inject.
func (p *FaultProxy) Heal() { p.set(func() { p.answers, p.after, p.faults = nil, nil, nil }) }

func (p *FaultProxy) set(how func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	how()
	close(p.change)
	p.change = make(chan struct{})
}

// Routes lists the routes of all requests so far, in the order of their first request.
func (p *FaultProxy) Routes() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.seen)
}

// injected is a fault and the requests it applies to.
type injected struct {
	fault Fault
	match func(*http.Request) bool
}

// Inject makes matching requests fail that way. Heal undoes it.
func (p *FaultProxy) Inject(f Fault, match func(*http.Request) bool) {
	p.set(func() { p.faults = append(p.faults, injected{f, match}) })
}

func (p *FaultProxy) faultOf(r *http.Request) Fault {
	p.mu.Lock()
	faults := p.faults
	p.mu.Unlock()
	for _, i := range faults {
		if i.match(r) {
			return i.fault
		}
	}
	return ""
}
