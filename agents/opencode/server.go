package opencode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// Bounds of what a server in a box may make us read or wait for.
const (
	serverUser = "opencode"
	// maxBody bounds the body of an answer, in bytes.
	maxBody = 1 << 20
	// maxHeaders bounds the headers of an answer, in bytes.
	maxHeaders = 64 << 10
	// requestLimit bounds one request; the first ones boot the repository's
	// instance, which takes seconds.
	requestLimit = 30 * time.Second
	// maxEvent bounds one event, in bytes: those of edits hold the file
	// before and after.
	maxEvent = 16 << 20
)

// boxServer is the server in the box, seen over HTTP.
type boxServer struct {
	base      string
	password  string
	client    *http.Client
	transport *http.Transport
}

// refusedError is an answer that is not a success.
type refusedError struct {
	status int
	text   string
}

func (r *refusedError) Error() string { return fmt.Sprintf("answer %d: %s", r.status, r.text) }

func newBoxServer(dial agents.Dial, port int, password string) *boxServer {
	transport := &http.Transport{
		DialContext:            func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, port) },
		DisableCompression:     true, // nothing may grow on our side
		MaxResponseHeaderBytes: maxHeaders,
		ResponseHeaderTimeout:  requestLimit,
		MaxConnsPerHost:        8,
	}
	return &boxServer{
		base: "http://127.0.0.1:" + strconv.Itoa(port), password: password, transport: transport,
		client: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// close ends the idle connections.
func (s *boxServer) close() { s.transport.CloseIdleConnections() }

// version asks for the version of the CLI.
func (s *boxServer) version(ctx context.Context) (string, error) {
	var health struct {
		Version string `json:"version"`
	}
	err := s.call(ctx, http.MethodGet, "/global/health", nil, &health)
	if err == nil && health.Version == "" {
		err = errors.New("no version in the answer")
	}
	if err != nil {
		return "", fmt.Errorf("ask for the version: %w", err)
	}
	return health.Version, nil
}

// call makes one request of JSON and reads the answer into out, unless that is
// nil. The error is an *refusedError when the server refused.
func (s *boxServer) call(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, requestLimit, errors.New("the agent's server did not answer in time"))
	defer cancel()
	resp, err := s.do(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return fmt.Errorf("read answer: %w", err)
	case len(body) > maxBody:
		return fmt.Errorf("read answer: longer than %d bytes", maxBody)
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return &refusedError{status: resp.StatusCode, text: cli.Head(string(cli.ValidUTF8(body)), 1<<10)}
	case out == nil:
		return nil
	}
	// Unknown paths are answered with the page of the web UI.
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return fmt.Errorf("read answer: it is %q, not JSON", cli.Head(resp.Header.Get("Content-Type"), 100))
	}
	if err := cli.Decode(cli.ValidUTF8(body), out); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	return nil
}

func (s *boxServer) do(ctx context.Context, method, path string, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, body)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.SetBasicAuth(serverUser, s.password)
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return s.client.Do(req)
}

// subscribe opens the stream of events, which ends with ctx.
func (s *boxServer) subscribe(ctx context.Context) (*eventStream, error) {
	resp, err := s.do(ctx, http.MethodGet, "/event", nil)
	if err != nil {
		return nil, err
	}
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || kind != "text/event-stream" || resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("answer %d is not a stream of events", resp.StatusCode)
	}
	return &eventStream{body: resp.Body, lines: cli.NewLineReader(resp.Body, maxEvent)}, nil
}

// eventStream reads server-sent events. The server sends each as one line of
// data, and so they are read as lines of bounded length: after one that is too
// long the stream goes on with the next, where readers of the whole format give
// the stream up.
type eventStream struct {
	body  io.Closer
	lines *cli.LineReader
}

// next returns the data of the next event, and io.EOF or another error after
// the last.
func (s *eventStream) next() (cli.Line, error) {
	for {
		l, err := s.lines.Next()
		if err != nil || l.Dropped > 0 {
			return l, err
		}
		if data, ok := bytes.CutPrefix(l.Text, []byte("data:")); ok {
			return cli.Line{Text: bytes.TrimSpace(data)}, nil
		}
	}
}

func (s *eventStream) close() { _ = s.body.Close() }
