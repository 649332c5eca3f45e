package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// pageDir is where the sources and the tests of the page are.
const pageDir = "../../../web"

// browse runs a script of web/test in a browser at the server. Words are its arguments.
func (s *served) browse(limit time.Duration, script string, words ...string) {
	t := s.rig.t
	t.Helper()
	for _, needed := range []string{"node", "chromium"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skipf("%s is missing: run scripts/setup", needed)
		}
	}
	if _, err := os.Stat(filepath.Join(pageDir, "node_modules", "playwright-core")); err != nil {
		t.Skip("the driver of the browser is missing: run scripts/page-libraries")
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	c := exec.CommandContext(ctx, "node", append([]string{filepath.Join(pageDir, "test", script), s.url}, words...)...)
	c.Env = append(os.Environ(), "PAGE_TOKEN="+s.token)
	c.WaitDelay = 5 * time.Second
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	began := time.Now()
	err := c.Run()
	t.Logf("%s took %s:\n%s", script, time.Since(began).Round(time.Millisecond), said.String())
	if err != nil {
		t.Errorf("%s: %v\n%s", script, err, s.logged())
	}
}

// The way of tasks through the page: sign in, see runs arrive, read verdict, change and events, answer what an agent asks.
func TestAPersonUsesThePage(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.models(mending())
	task := agentTask(newRepo(t, sample))
	delete(task, "acceptance_criteria")
	task["approvals"] = map[string]any{"policy": "ask", "timeout_seconds": 60}
	s := rig.serve()
	s.browse(time.Minute, "flow.mjs", repo.dir, string(marshal(t, task)))
}
