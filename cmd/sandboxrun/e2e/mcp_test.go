package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sandboxrun/runner/document"
	"sandboxrun/schemas/closed"
)

// mcpClient is the library's client of the real program.
type mcpClient struct {
	*sdk.ClientSession

	rig *rig

	mu   sync.Mutex
	told []string // messages of progress
}

func (r *rig) mcp(flags ...string) *mcpClient {
	r.t.Helper()
	m := &mcpClient{rig: r}
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, n *sdk.ProgressNotificationClientRequest) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.told = append(m.told, n.Params.Message)
		}})
	cmd := r.command(append([]string{"mcp"}, flags...)...)
	log, err := os.Create(filepath.Join(r.t.TempDir(), "mcp.log"))
	if err != nil {
		r.t.Fatal(err)
	}
	cmd.Stderr = log
	session, err := client.Connect(r.t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		text, _ := os.ReadFile(log.Name())
		r.t.Fatalf("%v: %s", err, text)
	}
	m.ClientSession = session
	r.t.Cleanup(func() { _ = session.Close() })
	return m
}

func (m *mcpClient) progress() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.told, "\n")
}

// call calls a tool and returns its structured answer.
func (m *mcpClient) call(tool string, arguments map[string]any, token any) (answer map[string]any, failed bool) {
	m.rig.t.Helper()
	p := &sdk.CallToolParams{Name: tool, Arguments: arguments}
	if token != nil {
		p.SetProgressToken(token)
	}
	res, err := m.CallTool(m.rig.t.Context(), p)
	if err != nil {
		m.rig.t.Fatalf("%s: %v", tool, err)
	}
	text := res.Content[0].(*sdk.TextContent).Text
	structured, err := json.Marshal(res.StructuredContent)
	if err != nil {
		m.rig.t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		m.rig.t.Fatalf("%s: %v: %s", tool, err, text)
	}
	if again := string(marshal(m.rig.t, answer)); again != string(structured) && !strings.Contains(tool, "list") {
		m.rig.t.Errorf("%s: the text and the structure differ:\n%s\n%s", tool, again, structured)
	}
	return answer, res.IsError
}

func TestAClientOfMCPRunsATask(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	before := fingerprint(t, repo.dir)
	m := rig.mcp()
	task := taskNamed(repo, "by-mcp", "echo new > new.txt")
	task["acceptance_criteria"] = []any{map[string]any{"command": "test -f new.txt"}}
	result, failed := m.call("execute_task", map[string]any{"task": task}, "token")
	if failed || result["status"] != "success" {
		t.Fatalf("%v", result)
	}
	if err := closed.Validate("result", marshal(t, result)); err != nil {
		t.Error(err)
	}
	run := result["run_id"].(string)
	if !strings.Contains(m.progress(), "run "+run+" was accepted") {
		t.Errorf("told: %s", m.progress())
	}
	if again, _ := m.call("execute_task", map[string]any{"task": task}, nil); again["run_id"] != run {
		t.Errorf("the same task is run %v", again["run_id"])
	}
	if view, _ := m.call("get_run", map[string]any{"run_id": run}, nil); view["state"] != "ended" || view["branch"] != "sandboxrun/by-mcp" {
		t.Errorf("%v", view)
	}
	diff, _ := m.call("get_diff", map[string]any{"run_id": run, "path": "new.txt"}, nil)
	if text, _ := diff["diff"].(string); !strings.HasPrefix(text, "diff --git a/new.txt b/new.txt\n") || !strings.Contains(text, "\n+new\n") || diff["truncated"] != false {
		t.Errorf("%v", diff)
	}
	if _, failed := m.call("get_diff", map[string]any{"run_id": run, "path": "old.txt"}, nil); !failed {
		t.Error("a path that did not change has a diff")
	}
	list, _ := m.call("list_agents", map[string]any{}, nil)
	if text := string(marshal(t, list)); !strings.Contains(text, `"name":"claude"`) || strings.Contains(text, realKey) {
		t.Errorf("%.300s", text)
	}
	// What is wrong is named; what a person decides is not for a client.
	for name, c := range map[string]struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		"no repository": {"execute_task", map[string]any{"task": map[string]any{"objective": "o", "execution_mode": "command", "suggested_commands": []any{"true"},
			"context": map[string]any{"repo_root": "/nowhere"}}}, "invalid_input"},
		"a host": {"execute_task", map[string]any{"task": map[string]any{"objective": "o", "instructions": "i", "context": map[string]any{"repo_root": repo.dir},
			"box": map[string]any{"network": map[string]any{"allow": []any{"example.org"}}}}}, "/box/network/allow/0"},
		"no run":      {"wait_run", map[string]any{"run_id": "01arz3ndektsv4rrffq69g5fav"}, "not_found"},
		"no run's id": {"get_run", map[string]any{"run_id": "../" + run}, "not_found"},
		"ended":       {"cancel_run", map[string]any{"run_id": run}, "run_ended"},
		"no session":  {"follow_up", map[string]any{"session_id": "none", "prompt": "more"}, "not_found"},
	} {
		answer, failed := m.call(c.tool, c.arguments, nil)
		text := marshal(t, answer)
		if !failed || !strings.Contains(string(text), c.want) {
			t.Errorf("%s: %s", name, text)
		}
	}
	after := fingerprint(t, repo.dir)
	for what, value := range before {
		if after[what] != value {
			t.Errorf("%s of the repository changed", what)
		}
	}
	rig.idle()
}

// Neither a call that is cancelled nor a client that ends touches the run, and both know its name.
func TestRunsOutliveTheirClientsOfMCP(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	m := rig.mcp()
	task := taskNamed(repo, "outlives", "sleep 7; echo new > new.txt")
	ctx, cancel := context.WithCancel(t.Context())
	p := &sdk.CallToolParams{Name: "execute_task", Arguments: map[string]any{"task": task}}
	p.SetProgressToken("t")
	ended := make(chan error, 1)
	go func() {
		_, err := m.CallTool(ctx, p)
		ended <- err
	}()
	waitFor(t, "the name of the run", func() bool { return strings.Contains(m.progress(), " was accepted") })
	cancel()
	if err := <-ended; err == nil {
		t.Error("the cancelled call has an answer")
	}
	run := strings.Fields(m.progress())[1]
	handle, failed := m.call("execute_task", map[string]any{"task": task, "wait_seconds": 0}, nil)
	if failed || handle["run_id"] != run || handle["next"] != "wait_run" || handle["state"] == "ended" {
		t.Errorf("%v, run %s", handle, run)
	}
	if err := m.Close(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
	next := rig.mcp()
	result, _ := next.call("wait_run", map[string]any{"run_id": run}, 7)
	if result["status"] != "success" || !strings.Contains(next.progress(), "run "+run+": ") {
		t.Errorf("%v; told: %s", result, next.progress())
	}
	rig.oneResult("outlives")
	rig.idle()
}

// With a server the same tools work through it, and a task that hangs is cancelled.
func TestAClientOfMCPUsesAServer(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	if o := rig.run(nil, "mcp", "--server", "auto"); o.exit != document.ExitBridge {
		t.Errorf("no server: exit %d: %s", o.exit, o.stderr)
	}
	rig.serve()
	m := rig.mcp("--server", "auto")
	began := time.Now()
	handle, failed := m.call("execute_task", map[string]any{"task": taskNamed(repo, "hangs", "echo new > new.txt; sleep 100"), "wait_seconds": 1}, nil)
	if failed || handle["next"] != "wait_run" || time.Since(began) > 30*time.Second {
		t.Fatalf("%v after %s", handle, time.Since(began))
	}
	run, _ := handle["run_id"].(string)
	waitFor(t, "the run", func() bool {
		v, _ := m.call("get_run", map[string]any{"run_id": run}, nil)
		return v["state"] == "running"
	})
	if _, failed := m.call("get_diff", map[string]any{"run_id": run}, nil); !failed {
		t.Error("a run without a result has a diff")
	}
	if v, failed := m.call("cancel_run", map[string]any{"run_id": run, "reason": "wrong base"}, nil); failed || v["run_id"] != run {
		t.Errorf("%v", v)
	}
	result, _ := m.call("wait_run", map[string]any{"run_id": run}, "token")
	if text := string(marshal(t, result)); !strings.Contains(text, "cancelled") || !strings.Contains(text, "wrong base") {
		t.Errorf("%s", text)
	}
	if diff, failed := m.call("get_diff", map[string]any{"run_id": run}, nil); failed || diff["run_id"] != run {
		t.Errorf("%v", diff)
	}
	if list, _ := m.call("list_agents", map[string]any{}, nil); list["agents"] == nil {
		t.Errorf("%v", list)
	}
	rig.idle()
}
