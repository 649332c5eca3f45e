package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// atTerminal runs the program with standard output and error on a terminal, and returns what it shows.
func (r *rig) atTerminal(args ...string) (shown string, exit int) {
	r.t.Helper()
	c := r.command(args...)
	c.Env = append(c.Env, "TERM=xterm", "NO_COLOR=1", "PAGER=cat")
	tty, err := pty.StartWithSize(c, &pty.Winsize{Rows: 40, Cols: 100})
	if err != nil {
		r.t.Skipf("no pseudo-terminal here: %v", err)
	}
	defer tty.Close()
	var out bytes.Buffer
	if _, err := io.Copy(&out, tty); err != nil && !errors.Is(err, syscall.EIO) { // EIO: the program has left the terminal
		r.t.Fatal(err)
	}
	_ = c.Wait() // the exit code is checked by the caller
	return strings.ReplaceAll(out.String(), "\r\n", "\n"), c.ProcessState.ExitCode()
}

// A person gets a report and what can be done next, a pipe and --json the document; both runs are found by many names.
func TestAPersonGetsAReportAndEveryoneElseADocument(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	task := repo.task(mend)
	task["task_id"] = "mend-sum"
	file := filepath.Join(t.TempDir(), "task.json")
	if err := os.WriteFile(file, marshal(t, task), 0o600); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "result.json")
	shown, exit := rig.atTerminal("execute", "--output", copied, file)
	for _, part := range []string{"success  1 file changed", "modified sum.sh", "\nnext\n", "merge sandboxrun/mend-sum", "sandboxrun runs diff"} {
		if !strings.Contains(shown, part) || exit != 0 {
			t.Errorf("exit %d, no %q in\n%s", exit, part, shown)
		}
	}
	if strings.Contains(shown, `"schema_version"`) {
		t.Errorf("the document is on the terminal:\n%s", shown)
	}
	var doc struct {
		RunID string `json:"run_id"`
	}
	if text, err := os.ReadFile(copied); err != nil || json.Unmarshal(text, &doc) != nil || doc.RunID == "" {
		t.Errorf("--output: %s, %v", text, err)
	}
	if shown, _ := rig.atTerminal("execute", "--json", "--quiet", file); !strings.HasPrefix(shown, "{\n") || strings.Contains(shown, "\nnext\n") {
		t.Errorf("--json at a terminal:\n%s", shown)
	}
	if shown, exit := rig.atTerminal("execute", "nothing.json"); exit != 2 || strings.Contains(shown, "{") || !strings.Contains(shown, "no such file") {
		t.Errorf("exit %d:\n%s", exit, shown)
	}

	list, _ := rig.atTerminal("runs", "list")
	lines := strings.Split(strings.TrimSpace(list), "\n")
	if len(lines) != 3 || strings.Contains(list, doc.RunID) || !strings.Contains(lines[2], doc.RunID[:10]) || !strings.Contains(lines[2], "Do what the test says.") {
		t.Errorf("runs list at a terminal:\n%s", list)
	}
	for _, line := range lines {
		if len([]rune(line)) > 100 {
			t.Errorf("a line is wider than the terminal: %s", line)
		}
	}
	whole := rig.run(nil, "runs", "ls", "--repo", repo.dir, "--status", "success")
	if !strings.Contains(string(whole.stdout), doc.RunID) || !strings.Contains(string(whole.stdout), repo.dir) {
		t.Errorf("runs list into a pipe:\n%s", whole.stdout)
	}
	for _, none := range [][]string{{"--status", "failed"}, {"--agent", "claude"}, {"--repo", t.TempDir()}} {
		if o := rig.run(nil, append([]string{"runs", "list", "--json"}, none...)...); strings.TrimSpace(string(o.stdout)) != "[]" {
			t.Errorf("runs list %v: %s", none, o.stdout)
		}
	}
	if o := rig.run(nil, "runs", "list", "--status", "good"); o.exit != 2 || !strings.Contains(string(o.stderr), "--status must be one of success") {
		t.Errorf("a wrong status: exit %d, %s", o.exit, o.stderr)
	}
	for _, name := range []string{"last", "sandboxrun/mend-sum", doc.RunID, doc.RunID[:20]} {
		if o := rig.run(nil, "runs", "diff", name); o.exit != 0 || !strings.Contains(string(o.stdout), "sum.sh") {
			t.Errorf("runs diff %s: exit %d, %s", name, o.exit, o.stderr)
		}
	}
	if o := rig.run(nil, "apply", "mend-sum"); o.exit != 0 {
		t.Errorf("apply by the task: exit %d, %s", o.exit, o.stderr)
	}
	if o := rig.run(nil, "runs", "show", "--generate-bash-completion"); !strings.HasPrefix(string(o.stdout), "last\n") || !strings.Contains(string(o.stdout), doc.RunID) {
		t.Errorf("completion of a run: %s", o.stdout)
	}

	// Cleaning up: old ones, the rest, and then nothing.
	for _, step := range []struct{ args, says string }{
		{"prune --older-than 1h", "removed 0 runs"}, {"prune --keep 1 --dry-run", "would remove 1 run"}, {"prune --keep 1", "removed 1 run"},
		{"rm --all", "removed 1 run"}, {"rm --all", "removed 0 runs"},
	} {
		o := rig.run(nil, append([]string{"runs"}, strings.Fields(step.args)...)...)
		if o.exit != 0 || strings.TrimSpace(string(o.stdout)) != step.says {
			t.Errorf("runs %s: exit %d, %s%s", step.args, o.exit, o.stdout, o.stderr)
		}
	}
	if branches := repo.git("branch", "--list", "sandboxrun/*"); !strings.Contains(branches, "sandboxrun/mend-sum") {
		t.Errorf("the branches went with the runs: %s", branches)
	}
}

// A log of the progress tells what took time and what went wrong, not that each phase began and ended.
func TestProgressInAFileHasNoNoise(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	_, o := rig.execute(repo.task("echo x > new", "false"))
	text := string(o.stderr)
	if strings.Contains(text, "  started\n") || strings.Contains(text, "done in 0.0 s") {
		t.Errorf("noise:\n%s", text)
	}
	for _, part := range []string{"$ echo x > new", "$ false  (exit 1", "ended: partial"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}
