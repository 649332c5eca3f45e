// Package client speaks to a server: it finds one, sends the token, and turns what goes wrong into the errors that the
// command line has anyway. A server that is not there, hangs or stops is a bridge failure.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/runner/endpoint"
)

// Auto names the server that announced itself in the state directory.
const Auto = "auto"

const (
	// dialBound is how long the server may take to accept a connection, headBound until its answer begins.
	dialBound = 5 * time.Second
	headBound = 30 * time.Second
	// maxAnswer bounds a document of the server, in bytes.
	maxAnswer = 256 << 20
)

// Client is one server and the token for it. It is safe for concurrent use.
type Client struct {
	base  string // URL without a slash at its end
	token string
	http  *http.Client
}

// New finds the server that target names, Auto or a URL, without a request to it. Errors are *document.InputError, or
// *document.BridgeError where there is no server.
func New(stateDir, target string) (*Client, error) {
	if target == Auto {
		e, err := endpoint.Find(stateDir)
		if errors.Is(err, fs.ErrNotExist) || err == nil && e.URL == "" {
			return nil, &document.BridgeError{Message: "no server runs with this state directory", Hint: `start one with "sandboxrun serve"`}
		}
		if err != nil {
			return nil, err
		}
		target = e.URL
	}
	base, err := baseURL(target)
	if err != nil {
		return nil, err
	}
	token, err := endpoint.Token(stateDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &document.BridgeError{Message: "there is no token for the server in this state directory", Hint: "set SANDBOXRUN_STATE_DIR to that of the server"}
	}
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Proxy:       nil, // a proxy would learn the token
		DialContext: (&net.Dialer{Timeout: dialBound}).DialContext, TLSHandshakeTimeout: dialBound, ResponseHeaderTimeout: headBound,
		DisableCompression: true,
	}
	// A redirect would carry the token somewhere else.
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{base: base, token: token, http: &http.Client{Transport: transport, CheckRedirect: noRedirect}}, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// baseURL checks a URL. Without TLS the token goes to this machine only.
func baseURL(target string) (string, error) {
	refuse := func(why string) error {
		return &document.InputError{Message: fmt.Sprintf("--server %q %s", target, why), Hint: "use auto, or a URL such as http://127.0.0.1:7311"}
	}
	u, err := url.Parse(target)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", refuse("is no URL")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "":
		return "", refuse("must hold nothing but scheme, host and port")
	case u.Scheme == "http" && u.Hostname() != "localhost" && !net.ParseIP(u.Hostname()).IsLoopback():
		return "", refuse("would send the token in plain text")
	}
	return u.Scheme + "://" + u.Host, nil
}

// do sends a request. The caller closes the body of the answer, which has a status below 400.
func (c *Client) do(ctx context.Context, method, path string, body []byte, header http.Header) (*http.Response, error) {
	var in io.Reader
	if body != nil {
		in = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, in)
	if err != nil {
		return nil, fmt.Errorf("call the server: %w", err)
	}
	maps.Copy(req.Header, header)
	req.Header.Set("Authorization", "Bearer "+c.token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, c.gone(ctx, err)
	}
	if res.StatusCode < http.StatusMultipleChoices {
		return res, nil
	}
	defer res.Body.Close()
	return nil, c.refused(res)
}

// gone is an error of a connection: the caller may do the work itself, or come again.
func (c *Client) gone(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if inner := (*url.Error)(nil); errors.As(err, &inner) {
		err = inner.Err // its text repeats the address
	}
	return &document.BridgeError{Message: fmt.Sprintf("the server at %s does not answer: %v", c.base, err), Hint: `see whether "sandboxrun serve" runs`}
}

// refused turns an error document of the server into the error it was.
func (c *Client) refused(res *http.Response) error {
	var doc struct {
		Error document.ErrorBody `json:"error"`
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, document.MaxDocument))
	if err != nil || json.Unmarshal(text, &doc) != nil || doc.Error.Message == "" {
		return &document.BridgeError{Message: fmt.Sprintf("the server at %s answered %s, which is none of its answers", c.base, res.Status), Hint: "another program may listen there"}
	}
	return ErrorOf(doc.Error, res.StatusCode)
}

// ErrorOf is the error that an error document reports.
func ErrorOf(e document.ErrorBody, status int) error {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden && e.Code != "repo_not_allowed", status == http.StatusMisdirectedRequest:
		return &document.BridgeError{Message: "the server refuses this caller: " + e.Message, Hint: "the token may belong to another state directory"}
	case e.Type == document.ErrorInvalidInput:
		return &document.InputError{Message: e.Message, Details: e.Details, Hint: e.Hint}
	case e.Type == document.ErrorBridgeFailure:
		return &document.BridgeError{Message: e.Message, Hint: e.Hint}
	}
	return fmt.Errorf("the server failed: %s", e.Message)
}
