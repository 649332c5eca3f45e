// Package httpapi is what the server says over HTTP: routes, streams, who may call them, and how they are counted. It
// knows no engine and no flags. Everything it tells of a run it reads from the state directory, so that it may die at any
// time and another one go on.
package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sandboxrun/runner/config"
	"sandboxrun/runner/feed"
	"sandboxrun/runner/index"
	"sandboxrun/runner/review"
	"sandboxrun/runner/service"
	"sandboxrun/runner/state"
	"sandboxrun/runner/tail"
	"sandboxrun/runner/websession"
)

// Options are what a Server is made from.
type Options struct {
	State   *state.State
	Service *service.Service
	Config  config.Config
	Machine Machine
	Log     *slog.Logger
	Version string // of this program
	Token   string // that callers must send
	// Pages are the pages that are signed in; nil where none can be.
	Pages  *websession.Store
	Getenv func(string) string
	TLS    bool // the server speaks TLS
}

// Machine answers what only the program's own wiring knows about this machine.
type Machine interface {
	// Ready is "" when tasks can run, otherwise one word for what is missing: engine, image or disk.
	Ready(ctx context.Context) string
	// Doctor checks the whole machine; it may take a minute.
	Doctor(ctx context.Context) Diagnosis
}

// Server answers requests. It is safe for concurrent use.
type Server struct {
	o       Options
	api     huma.API
	mux     *http.ServeMux
	metrics *metrics
	index   *index.Index
	doctor  doctor
	tails   *tail.Set
	feed    *feed.Feed
	patches review.Indexes

	openStreams atomic.Int64
	waits       atomic.Int64  // callers that wait for results
	cancelling  sync.Map      // ids of runs whose end is enforced
	slow        time.Duration // slowBound, less in tests

	stopping chan struct{}  // closed when the server begins to stop
	streams  sync.WaitGroup // requests that have left the HTTP server's own care
	ready    readiness
}

// Diagnosis is the doctor's list of this machine.
type Diagnosis struct {
	OK     bool      `doc:"No check failed." json:"ok"`
	Checks []Finding `json:"checks"`
}

// Finding is the outcome of one check.
type Finding struct {
	Name    string `json:"name"`
	Level   string `enum:"PASS,CAUTION,FAIL" json:"level"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// doctor keeps the last diagnosis, and lets one examination run at a time.
type doctor struct {
	mu   sync.Mutex
	last Diagnosis
	at   time.Time
}

// readiness keeps the last answer of the machine.
type readiness struct {
	mu      sync.Mutex
	missing string
	at      time.Time
}
