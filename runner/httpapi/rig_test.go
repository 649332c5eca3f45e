package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sandboxrun/runner/config"
	"sandboxrun/runner/service"
	"sandboxrun/runner/state"
	"sandboxrun/runner/websession"
	"sandboxrun/schemas/closed"
)

const testToken = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// machine is a machine on which everything is there, unless a test says otherwise.
type machine struct{ missing string }

func (m *machine) Ready(context.Context) string { return m.missing }

func (m *machine) Doctor(context.Context) Diagnosis {
	return Diagnosis{OK: true, Checks: []Finding{{Name: "all", Level: "PASS", Message: "is well"}}}
}

// rig is a server that listens on a port and a socket of its own.
type rig struct {
	t      *testing.T
	state  *state.State
	server *Server

	contract *contract
	addr     string
	socket   string
	log      *lockedBuffer
	stop     func() // stops the server and waits
	client   *http.Client
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newRig(t *testing.T, change ...func(*Options)) *rig {
	t.Helper()
	st, err := state.Open(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	log := &lockedBuffer{}
	o := Options{State: st, Service: service.New(service.Options{State: st}), Config: config.Default(), Machine: &machine{}, Version: "test", Token: testToken, Getenv: func(string) string { return "" },
		Log: slog.New(slog.NewJSONHandler(log, nil))}
	if o.Pages, err = websession.Open(st.Dir()); err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(&o)
	}
	s := New(o)
	contract, err := readContract(s)
	if err != nil {
		t.Fatal(err)
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "s")
	socket, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, Listeners{TCP: tcp, Socket: socket}) }()
	r := &rig{t: t, state: st, server: s, contract: contract, addr: tcp.Addr().String(), socket: path, log: log, client: &http.Client{Transport: &http.Transport{DisableCompression: true}}}
	r.stop = sync.OnceFunc(func() {
		cancel()
		r.client.CloseIdleConnections()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("serve: %v", err)
			}
		case <-time.After(3 * time.Second):
			t.Error("the server did not stop within three seconds")
		}
	})
	t.Cleanup(r.stop)
	return r
}

// answer is one answer, read to its end.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// call sends a request with the token.
func (r *rig) call(method, path, body string, header ...string) answer {
	r.t.Helper()
	return r.callAs("Bearer "+testToken, method, path, body, header...)
}

func (r *rig) callAs(authorization, method, path, body string, header ...string) answer {
	r.t.Helper()
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(r.t.Context(), method, "http://"+r.addr+path, in)
	if err != nil {
		r.t.Fatal(err)
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := r.client.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	a := answer{status: res.StatusCode, header: res.Header, body: text}
	a.check(r.t, method+" "+path)
	r.contract.judge(r.t, method, path, a)
	return a
}

// check holds every answer to what all have in common.
func (a answer) check(t *testing.T, what string) {
	t.Helper()
	if a.header.Get("Cache-Control") != "no-store" || a.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s: headers %v", what, a.header)
	}
	for name := range a.header {
		if strings.HasPrefix(name, "Access-Control-") || name == "Set-Cookie" {
			t.Errorf("%s: header %s", what, name)
		}
	}
	if a.status >= 400 && !strings.Contains(what, "readyz") {
		if a.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d as %s: %.200s", what, a.status, a.header.Get("Content-Type"), a.body)
		}
		if err := closed.Validate("error", a.body); err != nil {
			t.Errorf("%s: %v: %.300s", what, err, a.body)
		}
	}
}

// code is the stable code of a problem, "" for another answer.
func (a answer) code() string {
	var p struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	_ = json.Unmarshal(a.body, &p) // not every body is JSON
	return p.Error.Code
}

// raw sends bytes and returns the head of what comes back, "" when the server hangs up.
func (r *rig) raw(request string) string {
	r.t.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(15 * time.Second))
	_, _ = io.WriteString(c, request) // the server may hang up before the end
	line, _ := bufio.NewReader(c).ReadString('\n')
	return strings.TrimSpace(line)
}
