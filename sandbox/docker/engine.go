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
	"sync"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/versions"
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

// ready negotiates an API version once. It fails with *sandbox.UnavailableError when the engine does not answer or is
// too old.
func (e *Engine) ready(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.negotiated {
		return nil
	}
	ping, err := ask(ctx, e, "connect", e.timeouts.Call, func(ctx context.Context) (types.Ping, error) {
		return e.client.Ping(ctx)
	})
	if err != nil {
		return err
	}
	if ping.APIVersion == "" || versions.LessThan(ping.APIVersion, MinAPIVersion) {
		return &sandbox.UnavailableError{
			Op:   "connect",
			Hint: "upgrade to Docker Engine 20.10 or newer",
			Err:  fmt.Errorf("it offers API version %s; %s or newer is required", cmp.Or(ping.APIVersion, "without a version"), MinAPIVersion),
		}
	}
	e.client.NegotiateAPIVersionPing(ping)
	e.negotiated = true
	return nil
}

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
