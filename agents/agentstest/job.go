// Package agentstest is what the tests of adapters share: a box with the real
// CLIs, a box in which a function plays one, a host that records, and a turn of
// a real CLI against the scripted model.
package agentstest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/scripted/kit"
	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/internal/wire"
	"sandboxrun/sandbox/egress"
)

// Placeholder is what the box gets instead of a key.
const Placeholder = "sandboxrun-placeholder-1"

// Session is one fixed session id; every test has a HOME of its own.
const Session = "5f0c3a52-6d0e-4c7e-9a3f-1d2b8c4e7f60"

// Job is one turn of a real CLI against the scripted server.
type Job struct {
	T         *testing.T
	Agent     agents.Agent
	Server    *modelserver.Server
	Workspace string
	Home      string
	Box       *RealBox // of the last turn
	Host      *Recorder
	Turn      agents.Turn
}

// NewJob prepares a turn of an agent over a workspace with files.
func NewJob(t *testing.T, agent string, files map[string]string, steps ...modelserver.Step) *Job {
	t.Helper()
	t.Parallel()
	a, ok := agents.Lookup(agent)
	if !ok {
		t.Fatalf("%s is not registered", agent)
	}
	server, err := modelserver.Start(modelserver.Scenario{Name: t.Name(), Steps: steps})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	j := &Job{T: t, Agent: a, Server: server, Workspace: t.TempDir(), Home: t.TempDir(), Host: &Recorder{}, Turn: agents.Turn{
		Prompt: "do the work", SessionID: Session, Wire: a.Info().Wires[0], BaseURL: server.URL(), Token: Placeholder,
		// The boxes of these tests share the loopback of the host.
		Dial: func(ctx context.Context, port int) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		},
	}}
	for name, text := range files {
		path := filepath.Join(j.Workspace, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

// Run takes the turn in a box of its own.
func (j *Job) Run(ctx context.Context) (agents.Outcome, error) {
	j.T.Helper()
	j.Server.Watch(j.judge())
	j.Box = OpenBox(j.T, j.Workspace, j.Home)
	return j.Agent.Run(ctx, j.Box, j.Turn, j.Host)
}

// judge returns a watch of the model server that fails the test for a request that the broker of a run would refuse:
// these boxes reach the server without one.
func (j *Job) judge() func(*http.Request, []byte) {
	base, err := url.Parse(j.Server.URL())
	if err != nil {
		j.T.Fatal(err)
	}
	route, err := egress.NewRoute("test", base, egress.StaticKey(Placeholder), wire.All()...)
	if err != nil {
		j.T.Fatal(err)
	}
	route = egress.Under(egress.Policy{Models: j.Agent.Info().ModelsAsked(j.Turn.Model)}, route)
	return func(r *http.Request, body []byte) {
		if err := egress.Inspect(route, r, r.URL.RequestURI(), body); err != nil {
			j.T.Errorf("the broker would refuse %s %s: %v", r.Method, r.URL.Path, err)
		}
	}
}

// MustRun takes the turn and fails the test on an error.
func (j *Job) MustRun() agents.Outcome {
	j.T.Helper()
	o, err := j.Run(j.T.Context())
	if err != nil {
		j.T.Fatalf("run: %v (%+v)", err, o)
	}
	return o
}

// Exists says whether the workspace has a file of that name.
func (j *Job) Exists(name string) bool {
	_, err := os.Lstat(filepath.Join(j.Workspace, name))
	return err == nil
}

// Text is the content of a file of the workspace, "" where it is not there.
func (j *Job) Text(name string) string {
	b, err := os.ReadFile(filepath.Join(j.Workspace, name))
	if err != nil {
		return ""
	}
	return string(b)
}

// MustEnd takes the turn within ctx, fails the test on an error, and checks what
// the model server saw: its script was followed, and only the placeholder came as a key.
func (j *Job) MustEnd(ctx context.Context) agents.Outcome {
	j.T.Helper()
	began := time.Now()
	o, err := j.Run(ctx)
	if err != nil {
		j.T.Fatalf("run: %v (%+v)", err, o)
	}
	j.T.Logf("%s in %s: %s %s %.300s", j.Agent.Info().Name, time.Since(began).Round(100*time.Millisecond), o.End, o.Code, o.Message)
	for _, r := range j.Server.Requests() {
		if r.Main && r.Key != Placeholder {
			j.T.Errorf("%s %s came with key %q", r.Method, r.Path, r.Key)
		}
	}
	for _, f := range j.Server.Failures() {
		j.T.Error(f)
	}
	return o
}

// Statuses lists the results of the turn by status and checks that each call
// has exactly one.
func (j *Job) Statuses() map[string]int {
	j.T.Helper()
	got, results := map[string]int{}, map[string]int{}
	for _, r := range Of[agents.ToolResult](j.Host) {
		got[r.Status]++
		results[r.ID]++
	}
	for _, c := range Of[agents.ToolCall](j.Host) {
		if results[c.ID] != 1 {
			j.T.Errorf("call %s (%s) has %d results", c.ID, c.Tool, results[c.ID])
		}
	}
	return got
}

// KeepOnly moves on to a HOME that holds only what the agent wants kept.
func (j *Job) KeepOnly(keep []string) {
	j.T.Helper()
	if len(keep) == 0 {
		j.T.Fatal("the agent keeps nothing")
	}
	next := j.T.TempDir()
	for _, rel := range keep {
		from, to := filepath.Join(j.Home, rel), filepath.Join(next, rel)
		if _, err := os.Lstat(from); err != nil {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			j.T.Fatal(err)
		}
		if out, err := exec.CommandContext(j.T.Context(), "cp", "-a", from, to).CombinedOutput(); err != nil {
			j.T.Fatalf("keep %s: %v: %s", rel, err, out)
		}
	}
	j.Home = next
}

// Appears waits for a file of the workspace; false means that ctx ended first.
func (j *Job) Appears(ctx context.Context, name string) bool {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !j.Exists(name) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// NewBoundedJob prepares a turn of the suite and bounds it.
func NewBoundedJob(t *testing.T, agent string, k kit.Kit, files map[string]string, steps ...modelserver.Step) (*Job, context.Context) {
	t.Helper()
	j := NewJob(t, agent, files, steps...)
	j.Turn.Model = k.Model
	ctx, cancel := context.WithTimeoutCause(t.Context(), Bound, errors.New("the suite's bound"))
	t.Cleanup(cancel)
	return j, ctx
}

// Bound is how long one case of the suite may take; failing providers are
// given up on long before.
const Bound = 4 * time.Minute

// CallEcho runs a turn in which the model calls the tool of [EchoServer] under the CLI's name for it, decides about that
// with the reason "no echo", checks what was asked, and returns the results of all calls.
func (j *Job) CallEcho(tool string, allow bool) []agents.ToolResult {
	j.T.Helper()
	j.Host.Decide = func(context.Context, agents.ApprovalRequest) agents.Decision {
		return agents.Decision{Allow: allow, Reason: "no echo"}
	}
	if o := j.MustRun(); o.End != agents.EndClean || o.Unknown != 0 {
		j.T.Errorf("outcome = %+v %+v", o, j.Host.Raws())
	}
	if len(j.Host.Asked) != 1 {
		j.T.Fatalf("asked %+v", j.Host.Asked)
	}
	if q := j.Host.Asked[0]; q.Tool != tool || q.Action != agents.ActionMCP || string(q.Input) != `{"x":"<world>"}` || q.ToolID == "" {
		j.T.Errorf("asked %+v with %s", q, q.Input)
	}
	return Of[agents.ToolResult](j.Host)
}
