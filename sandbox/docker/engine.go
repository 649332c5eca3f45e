// Package docker opens boxes on the Docker Engine API: Docker Engine 20.10 and
// newer, and Podman's Docker-compatible socket. It is the only package that
// imports the Docker SDK.
package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/docker/docker/client"

	"sandboxrun/sandbox"
)

// MinAPIVersion is the oldest Engine API a box can be made with: that of Docker
// Engine 20.10, the first with private cgroup namespaces and non-recursive binds.
const MinAPIVersion = "1.41"

// Config names the engine to use and its time limits. Its zero value is the engine that DOCKER_HOST names, else the
// default socket.
type Config struct {
	// Host is the endpoint, e.g. unix:///var/run/docker.sock or tcp://…; "" takes DOCKER_HOST, then the default
	// socket.
	Host string
	// Instance names the state this program runs from. Boxes carry it as a label and Reap only handles boxes of its
	// own instance, so that two users of one engine never reap each other's.
	Instance string
	// Dir is a private directory for the three constant files that boxes see in /etc, and for the seccomp profile that
	// Podman reads. "" is a directory in the user's cache directory.
	Dir string
	// Timeouts bounds every call; zero fields take DefaultTimeouts.
	Timeouts Timeouts
}

// Engine is a sandbox.Engine on the Docker Engine API. It is safe for concurrent use.
type Engine struct {
	client   *client.Client
	instance string
	dir      string
	timeouts Timeouts

	mu         sync.Mutex
	negotiated bool
	known      *sandbox.Info
}

var _ sandbox.Engine = (*Engine)(nil)

// unusableHost is the error of an address that no engine can be reached at, whatever runs on the machine.
func unusableHost(host, why string) error {
	return &sandbox.UnavailableError{
		Op:   fmt.Sprintf("connect to DOCKER_HOST %q", host),
		Err:  errors.New(why),
		Hint: "set DOCKER_HOST to an address that begins with unix:// or tcp://, or unset it",
	}
}

// New prepares an engine without connecting to it; the first call that needs the endpoint reports an unusable one.
// Errors mean a malformed Config or environment; a *sandbox.UnavailableError an address of a kind that cannot work.
func New(cfg Config) (*Engine, error) {
	dir := cfg.Dir
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("new engine: find a directory for its files: %w", err)
		}
		dir = filepath.Join(cache, "sandboxrun", "etc")
	}
	host := cmp.Or(cfg.Host, os.Getenv(client.EnvOverrideHost), client.DefaultDockerHost)
	endpoint, err := client.ParseHostURL(host)
	if err != nil {
		return nil, unusableHost(host, "it has no scheme, such as unix://, or no address after the scheme")
	}
	switch endpoint.Scheme {
	case "unix", "tcp", "http", "https":
	default:
		return nil, unusableHost(host, "this program cannot connect by "+endpoint.Scheme)
	}
	sdk, err := client.NewClientWithOpts(
		client.WithTLSClientConfigFromEnv(),
		client.WithHost(host),
		client.WithDialContext(dialer(endpoint)),
		client.WithAPIVersionNegotiation(),
	)
	if err != nil {
		return nil, fmt.Errorf("new engine: %w", err)
	}
	return &Engine{
		client:   sdk,
		instance: cfg.Instance,
		dir:      dir,
		timeouts: cfg.Timeouts.withDefaults(),
	}, nil
}

// Close drops the idle connections. Open boxes stay open.
func (e *Engine) Close() error { return e.client.Close() }

// spyKey is the context key of the function that receives the connection a call dials.
type spyKey struct{}

// dialer dials the engine. The SDK reads the answer to a hijacking request (attach, exec) without watching the
// context, so a hung engine would block the caller for ever; held gets hold of the connection through spyKey.
//
// With TLS the SDK dials hijacked connections itself and this has no effect.
func dialer(endpoint *url.URL) func(ctx context.Context, network, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if endpoint.Scheme == "unix" {
			// For plain requests addr is a made-up HTTP host.
			network, addr = "unix", endpoint.Host+endpoint.Path
		}
		conn, err := d.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		if spy, ok := ctx.Value(spyKey{}).(func(net.Conn)); ok {
			spy(conn)
		}
		return conn, nil
	}
}

// held returns a context for one hijacking call and a function to call after it. Until then the end of ctx closes the
// connection, which ends the call.
func held(ctx context.Context) (context.Context, func()) {
	release := func() bool { return true }
	spied := context.WithValue(ctx, spyKey{}, func(c net.Conn) {
		release = context.AfterFunc(ctx, func() { c.Close() })
	})
	return spied, func() { release() }
}

// Timeouts bounds the engine's calls. A zero field takes its default.
type Timeouts struct {
	Call     time.Duration // one short call
	Create   time.Duration // creating a container or a volume
	Start    time.Duration // starting a container, mounts included
	Remove   time.Duration // one attempt to remove a container or a volume
	Teardown time.Duration // all attempts together
	Retry    time.Duration // all attempts together after earlier ones, or the engine, failed
	Build    time.Duration // building an image
	Ping     time.Duration // one ping while a box is open
	PingGap  time.Duration // pause between two of them
	Linger   time.Duration // silence after which the stream of a finished exec is closed
}

// DefaultTimeouts are generous for a busy machine, except Ping: two missed in a row mean that the engine is lost,
// which is noticed after about 14 seconds.
func DefaultTimeouts() Timeouts {
	n, _ := strconv.Atoi(haste)
	n = max(n, 1)
	share := func(whole time.Duration) time.Duration { return whole / time.Duration(n) }
	return Timeouts{
		Call:     share(20 * time.Second),
		Create:   share(60 * time.Second),
		Start:    share(90 * time.Second),
		Remove:   share(20 * time.Second),
		Teardown: share(45 * time.Second),
		Retry:    share(12 * time.Second),
		Build:    time.Hour,
		Ping:     4 * time.Second,
		PingGap:  3 * time.Second,
		Linger:   time.Second,
	}
}

func (t Timeouts) withDefaults() Timeouts {
	d := DefaultTimeouts()
	return Timeouts{
		Call:     cmp.Or(t.Call, d.Call),
		Create:   cmp.Or(t.Create, d.Create),
		Start:    cmp.Or(t.Start, d.Start),
		Remove:   cmp.Or(t.Remove, d.Remove),
		Teardown: cmp.Or(t.Teardown, d.Teardown),
		Retry:    cmp.Or(t.Retry, d.Retry),
		Build:    cmp.Or(t.Build, d.Build),
		Ping:     cmp.Or(t.Ping, d.Ping),
		PingGap:  cmp.Or(t.PingGap, d.PingGap),
		Linger:   cmp.Or(t.Linger, d.Linger),
	}
}

// haste divides the time limits of programs that tests link to meet failing engines (-ldflags "-X
// sandboxrun/sandbox/docker.haste=5"). Nothing else sets it.
var haste = "1"
