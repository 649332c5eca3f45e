package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"sandboxrun/agents"
	"sandboxrun/agents/scripted/kit"
	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/runner/document"
)

// screen is the terminal the program runs at: its standard error and its controlling terminal.
type screen struct {
	t     *testing.T
	lines chan string // what it shows, piece by piece
	tty   *os.File
	shown strings.Builder
}

// executeAt runs a task at a terminal; at reads and types there meanwhile.
func (r *rig) executeAt(task map[string]any, at func(s *screen), flags ...string) (document.Result, string) {
	r.t.Helper()
	doc, err := json.Marshal(task)
	if err != nil {
		r.t.Fatal(err)
	}
	file := filepath.Join(r.t.TempDir(), "task.json")
	if err := os.WriteFile(file, doc, 0o600); err != nil {
		r.t.Fatal(err)
	}
	ours, theirs, err := pty.Open()
	if err != nil {
		r.t.Skipf("no pseudo-terminal here: %v", err)
	}
	var out strings.Builder
	c := r.command(append(append([]string{"execute"}, flags...), file)...)
	c.Env = append(c.Env, "TERM=xterm", "NO_COLOR=1")
	c.Stdin, c.Stdout, c.Stderr = nil, &out, theirs
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
	if err := c.Start(); err != nil {
		r.t.Fatal(err)
	}
	// The reader sees the program leave the terminal once nobody else has it open.
	if err := theirs.Close(); err != nil {
		r.t.Error(err)
	}
	s := &screen{t: r.t, lines: make(chan string, 4096), tty: ours}
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(s.lines)
		in := bufio.NewReader(ours)
		buf := make([]byte, 4096)
		for {
			n, err := in.Read(buf)
			if n > 0 {
				s.lines <- string(buf[:n])
			}
			if err != nil {
				return // the program has left the terminal
			}
		}
	})
	at(s)
	err = c.Wait()
	for text := range s.lines {
		s.shown.WriteString(text)
	}
	reading.Wait()
	_ = ours.Close() // its reader has ended
	var res document.Result
	if jerr := json.Unmarshal([]byte(out.String()), &res); jerr != nil || res.RunID == "" {
		r.t.Fatalf("no result (%v): %v\n%s\n%s", err, jerr, out.String(), s.shown.String())
	}
	return res, s.shown.String()
}

// await waits until text is shown; answer types a line.
func (s *screen) await(text string) {
	s.t.Helper()
	from := s.shown.Len()
	for more := range s.lines {
		s.shown.WriteString(more)
		if strings.Contains(s.shown.String()[from:], text) {
			return
		}
	}
	s.t.Fatalf("%q never came:\n%s", text, s.shown.String())
}

func (s *screen) answer(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.tty, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

func claudeKit(t *testing.T) kit.Kit {
	t.Helper()
	k, err := kit.Load("claude")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func approvalsIn(t *testing.T, r *rig, run string) (asked, answered []map[string]any) {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(r.state, "runs", run, "events.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(strings.TrimSpace(string(body)), "\n") {
		var e struct {
			Kind string         `json:"kind"`
			Data map[string]any `json:"data"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case "approval_asked":
			asked = append(asked, e.Data)
		case "approval_answered":
			answered = append(answered, e.Data)
		}
	}
	return asked, answered
}

func TestAPersonAtTheTerminalDecides(t *testing.T) {
	t.Parallel()
	rig, repo, k := newRig(t), newRepo(t, sample), claudeKit(t)
	question, _ := k.Question("Which colour?", "red", "blue")
	srv := rig.models(modelserver.Scenario{Name: "ask", Steps: []modelserver.Step{
		{Tools: []modelserver.ToolUse{k.Write("NOTES.md", "first line\n\x1b[31mred\x1b[0m\n")}},
		{Tools: []modelserver.ToolUse{k.Run("rm old.txt")}},
		{Tools: []modelserver.ToolUse{question}},
		{Text: "Done.", Expect: "blue"},
	}})
	task := agentTask(repo)
	delete(task, "acceptance_criteria")
	res, shown := rig.executeAt(task, func(s *screen) {
		s.await("allow? y, n")
		s.answer("y")
		s.await("allow? y, n")
		s.answer("not that file")
		s.await("a number, or your own words")
		s.answer("2")
	}, "--approve", "ask")
	if d := changes(res); len(d) != 1 || d["NOTES.md"] != "added" || !hasCode(res, "approval_denied") {
		t.Errorf("files %v, issues %+v", d, res.Issues)
	}
	for _, want := range []string{"wants to use Write (edit)", `\u001b[31mred`, "rm old.txt", "Which colour?", "1) red"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the screen lacks %q:\n%s", want, shown)
		}
	}
	if strings.Contains(shown, "\x1b[31m") {
		t.Error("an escape sequence of the agent reached the terminal")
	}
	if f := srv.Failures(); len(f) > 0 {
		t.Errorf("the answer did not reach the model: %v", f)
	}
	told := false
	for _, q := range srv.Requests() {
		for _, r := range q.Results {
			told = told || strings.Contains(r.Text, "not that file")
		}
	}
	if !told {
		t.Error("the reason did not reach the model")
	}
	asked, answered := approvalsIn(t, rig, res.RunID)
	if len(asked) != 3 || len(answered) != 3 {
		t.Fatalf("%d asked, %d answered", len(asked), len(answered))
	}
	for i := range asked {
		if asked[i]["digest"] != answered[i]["digest"] || len(asked[i]["digest"].(string)) != 64 || answered[i]["by"] != "terminal" {
			t.Errorf("request %d: %v, answer %v", i, asked[i], answered[i])
		}
	}
}

// Without a terminal a request waits for "approvals answer", and is denied when nobody answers in time.
func TestWithoutATerminalAskWaitsAndDenies(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.models(mending())
	task := agentTask(repo)
	task["approvals"] = map[string]any{"policy": "ask", "timeout_seconds": 2}
	res, o := rig.execute(task)
	if o.exit == 0 || len(res.FilesChanged) != 0 || !hasCode(res, "approval_timeout") || hasCode(res, "approval_denied") {
		t.Errorf("exit %d, files %v, issues %+v", o.exit, changes(res), res.Issues)
	}
}

func TestRulesOfTheTaskDecideFirst(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.models(mending())
	task := agentTask(repo)
	delete(task, "acceptance_criteria")
	task["approvals"] = map[string]any{
		"policy": "deny",
		"allow":  []any{map[string]any{"path": "*.sh"}, map[string]any{"tool": "Bash"}},
		"deny":   []any{map[string]any{"command": "rm *"}},
	}
	res, o := rig.execute(task)
	if d := changes(res); len(d) != 1 || d["sum.sh"] != "modified" || !hasCode(res, "approval_denied") {
		t.Errorf("exit %d, files %v, issues %+v", o.exit, d, res.Issues)
	}
}

// Every agent's request is denied without a decision in time, and its turn ends.
func TestEveryAgentsRequestTimesOut(t *testing.T) {
	t.Parallel()
	sampledAgents(t, func(t *testing.T, info agents.Info, k kit.Kit) {
		rig, repo := newRig(t), newRepo(t, sample)
		rig.models(modelserver.Scenario{Name: "ask", Steps: []modelserver.Step{
			{Tools: []modelserver.ToolUse{k.Write("NOTES.md", "notes\n")}}, {Text: "Nobody answered."}, {Text: "Nobody answered."},
		}})
		task := agentTask(repo)
		delete(task, "acceptance_criteria")
		task["approvals"] = map[string]any{"policy": "ask", "timeout_seconds": 2}
		task["agent"] = map[string]any{"name": info.Name}
		if k.Model != "" {
			task["agent"] = map[string]any{"name": info.Name, "model": k.Model}
		}
		res, shown := rig.executeAt(task, func(s *screen) { s.await("allow? y, n") })
		if !hasCode(res, "approval_timeout") || hasCode(res, "approval_denied") || len(res.FilesChanged) != 0 {
			t.Errorf("files %v, issues %+v", changes(res), res.Issues)
		}
		if !strings.Contains(shown, "no longer needed: nobody answered in time") {
			t.Errorf("the screen does not show it:\n%s", shown)
		}
		_, answered := approvalsIn(t, rig, res.RunID)
		if len(answered) == 0 || answered[0]["timed_out"] != true || answered[0]["allow"] != false {
			t.Errorf("answers = %v", answered)
		}
	})
}
