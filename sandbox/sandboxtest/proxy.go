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

// Fault is one way in which an engine fails at one call.
type Fault string

// Faults. The engine does not hear of a request that is Refused, Deaf or
// answered with a status; it obeys all others, and what fails is its answer.
const (
	Refused   Fault = "refused"   // the connection closes, the engine never hears the request
	Deaf      Fault = "deaf"      // nothing happens at all
	Failing   Fault = "500"       // an internal error of the engine
	Missing   Fault = "404"       // what is asked for is not there
	Conflict  Fault = "409"       // what is asked for is not possible now
	Lost      Fault = "lost"      // the engine obeys; the connection closes without an answer
	Silent    Fault = "silent"    // the engine obeys; no answer ever comes
	Dripping  Fault = "dripping"  // the answer comes a byte at a time
	Torn      Fault = "torn"      // the connection closes within the answer
	Ended     Fault = "ended"     // the answer ends early, as if it were whole
	Garbage   Fault = "garbage"   // the answer is something else
	Empty     Fault = "empty"     // the answer is valid and says nothing
	Misframed Fault = "misframed" // a stream is out of step
)

// Faults lists all of them.
func Faults() []Fault {
	return []Fault{Refused, Deaf, Failing, Missing, Conflict, Lost, Silent, Dripping, Torn, Ended, Garbage, Empty, Misframed}
}

// FaultProxy stands in front of an engine's unix socket and fails on demand. All
// methods may be called at any time and take effect at once, on connections that
// are open too.
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

// answer replaces the engine's own answer to the requests it matches.
type answer struct {
	match  func(*http.Request) bool
	status int
}

// afterAnswer runs when the engine has answered and the client has not seen it.
type afterAnswer struct {
	match func(*http.Request) bool
	do    func()
}

// Host is the endpoint to give to an engine, unix://….
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

// Cut closes every connection that is open, in mid-stream.
func (p *FaultProxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.drop() // cut already when it fails
	}
}

// Hang stops (or lets go on) every byte in both directions, without closing
// anything: the engine is there and silent.
func (p *FaultProxy) Hang(on bool) { p.set(func() { p.hang = on }) }

// Slow makes each chunk of an answer wait; 0 undoes it.
func (p *FaultProxy) Slow(pause time.Duration) { p.set(func() { p.slow = pause }) }

// Version makes the engine claim that API version; "" undoes it.
func (p *FaultProxy) Version(v string) { p.set(func() { p.version = v }) }

// Answer makes requests that match fail with an HTTP status without reaching
// the engine. Heal undoes it.
func (p *FaultProxy) Answer(status int, match func(*http.Request) bool) {
	p.set(func() { p.answers = append(p.answers, answer{match, status}) })
}

// AfterAnswer calls do when the engine has answered a request that matches,
// before the client sees any of the answer. Heal undoes it.
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

// Routes lists the routes of all requests so far, in the order they first came.
func (p *FaultProxy) Routes() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.seen)
}

// injected is a fault and the requests it befalls.
type injected struct {
	fault Fault
	match func(*http.Request) bool
}

// Inject makes requests that match fail that way. Heal undoes it.
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
