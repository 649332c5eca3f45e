package agents_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest/modelserver"
)

// placeholder is what the box gets instead of a key.
const placeholder = "sandboxrun-placeholder-1"

// session is one fixed session id; every test has a HOME of its own.
const session = "5f0c3a52-6d0e-4c7e-9a3f-1d2b8c4e7f60"

// job is one turn of a real CLI against the scripted server.
type job struct {
	t         *testing.T
	agent     agents.Agent
	server    *modelserver.Server
	workspace string
	home      string
	box       *dockerBox // of the last turn
	host      *recorder
	turn      agents.Turn
}

// newJob prepares a turn of Claude Code over a workspace with files.
func newJob(t *testing.T, files map[string]string, steps ...modelserver.Step) *job {
	t.Helper()
	return newJobOf(t, "claude", files, steps...)
}

// newJobOf prepares a turn of an agent over a workspace with files.
func newJobOf(t *testing.T, agent string, files map[string]string, steps ...modelserver.Step) *job {
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
	j := &job{t: t, agent: a, server: server, workspace: t.TempDir(), home: t.TempDir(), host: &recorder{}, turn: agents.Turn{
		Prompt: "do the work", SessionID: session, Wire: a.Info().Wires[0], BaseURL: server.URL(), Token: placeholder,
		// The boxes of these tests share the loopback of the host.
		Dial: func(ctx context.Context, port int) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		},
	}}
	for name, text := range files {
		path := filepath.Join(j.workspace, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

// run takes the turn in a box of its own.
func (j *job) run(ctx context.Context) (agents.Outcome, error) {
	j.t.Helper()
	j.box = openBox(j.t, j.workspace, j.home)
	return j.agent.Run(ctx, j.box, j.turn, j.host)
}

// mustRun takes the turn and fails the test on an error.
func (j *job) mustRun() agents.Outcome {
	j.t.Helper()
	o, err := j.run(j.t.Context())
	if err != nil {
		j.t.Fatalf("run: %v (%+v)", err, o)
	}
	return o
}

func (j *job) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(j.workspace, name))
	return err == nil
}

// text is the content of a file of the workspace, "" where it is not there.
func (j *job) text(name string) string {
	b, err := os.ReadFile(filepath.Join(j.workspace, name))
	if err != nil {
		return ""
	}
	return string(b)
}
