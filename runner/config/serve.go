package config

import (
	"cmp"
	"fmt"
	"net"
	"strconv"
	"strings"

	"sandboxrun/runner/document"
)

// Serve holds the settings of the server. Zero fields were not decided.
type Serve struct {
	Addr        string   `json:"addr,omitempty"`   // host:port
	Socket      string   `json:"socket,omitempty"` // absolute path of a unix socket, "" for none
	Hosts       []string `json:"hosts,omitempty"`  // names it answers to, besides those of loopback
	MaxParallel int      `json:"max_parallel"`     // runs at one time
	Queue       int      `json:"queue,omitempty"`  // tasks that may wait to begin
	// QueueWaitSeconds bounds how long a caller who waits for a result waits for its beginning.
	QueueWaitSeconds int `json:"queue_wait_seconds,omitempty"`
	// Retries is how often a run is repeated that failed for reasons of the machine before its agent began; negative for
	// never.
	Retries   int      `json:"retries,omitempty"`
	OnStop    string   `json:"on_stop,omitempty"` // OnStopLeave or OnStopCancel
	RepoRoots []string `json:"repo_roots"`        // where repositories may lie, empty for anywhere
}

// What happens to active runs when the server is stopped.
const (
	OnStopLeave  = "leave" // they go on
	OnStopCancel = "stop"  // they are cancelled
)

// DefaultAddr is where the server listens.
const DefaultAddr = "127.0.0.1:7311"

func defaultServe() Serve {
	return Serve{Addr: DefaultAddr, MaxParallel: 2, Queue: 1000, QueueWaitSeconds: 240, Retries: 1, OnStop: OnStopLeave, RepoRoots: []string{}}
}

// over returns s where s decides and base where it does not.
func (s Serve) over(base Serve) Serve {
	out := Serve{
		Addr:             cmp.Or(s.Addr, base.Addr),
		Socket:           cmp.Or(s.Socket, base.Socket),
		Hosts:            base.Hosts,
		MaxParallel:      cmp.Or(s.MaxParallel, base.MaxParallel),
		Queue:            cmp.Or(s.Queue, base.Queue),
		QueueWaitSeconds: cmp.Or(s.QueueWaitSeconds, base.QueueWaitSeconds),
		Retries:          cmp.Or(s.Retries, base.Retries),
		OnStop:           cmp.Or(s.OnStop, base.OnStop),
		RepoRoots:        base.RepoRoots,
	}
	if s.Hosts != nil {
		out.Hosts = s.Hosts
	}
	if s.RepoRoots != nil {
		out.RepoRoots = s.RepoRoots
	}
	return out
}

// validate reports what the schema cannot say.
func (s Serve) validate(at string, p *document.Problems) {
	if s.Addr != "" {
		if why := AddrProblem(s.Addr); why != "" {
			p.Add(at+"/addr", "%s", why)
		}
	}
	if document.HasDotDot(s.Socket) {
		p.Add(at+"/socket", `must not hold ".." segments`)
	}
	for i, root := range s.RepoRoots {
		if document.HasDotDot(root) {
			p.Add(fmt.Sprintf("%s/repo_roots/%d", at, i), `must not hold ".." segments`)
		}
	}
}

// AddrProblem says why addr is no address to listen on, "" when it is one: an IP address or localhost, and a port.
// Other names are refused, because what they resolve to may change.
func AddrProblem(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "must be an address and a port, such as " + DefaultAddr
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return "must end in a port between 0 and 65535"
	}
	if host != "localhost" && net.ParseIP(host) == nil || strings.Contains(host, "%") {
		return "must begin with an IP address or localhost"
	}
	return ""
}

// Loopback reports whether only this machine can reach an address without AddrProblem.
func Loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && (host == "localhost" || net.ParseIP(host).IsLoopback())
}
