package e2e

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sandboxrun/internal/testenv"
)

// The server is killed during a run and comes back, later with another token: the page shows it, misses no event, shows none
// twice, and keeps what was typed.
func TestThePageOutlivesItsServer(t *testing.T) {
	t.Parallel()
	testenv.NeedsAll(t, "waits for connections to be tried again")
	rig, repo := newRig(t), newRepo(t, sample)
	s := rig.serve()
	address := []string{"--addr", strings.TrimPrefix(s.url, "http://")}
	var steps []string
	for i := 1; i <= 25; i++ {
		steps = append(steps, fmt.Sprintf("sleep 0.5; echo number %d", i))
	}
	run := s.submit(taskNamed(repo, "steps", steps...)).RunID
	waitFor(t, "the run", func() bool {
		status, _ := s.get("/api/runs/" + run + "/approvals")
		return status == 200
	})
	c := exec.CommandContext(t.Context(), "node", filepath.Join(pageDir, "test", "reconnect.mjs"), s.url, run)
	c.Env, c.Stderr = append(os.Environ(), "PAGE_TOKEN="+s.token), os.Stderr
	in, errIn := c.StdinPipe()
	out, errOut := c.StdoutPipe()
	if errIn != nil || errOut != nil {
		t.Fatal(errIn, errOut)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	last := ""
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		last = lines.Text()
		answer := "done"
		switch last {
		case "kill":
			s.stop(syscall.SIGKILL)
		case "start":
			s = rig.serve(address...)
		case "renew":
			s.stop(syscall.SIGTERM)
			s = rig.serve(append(address, "--new-token")...)
			answer = s.token
		}
		_, _ = io.WriteString(in, answer+"\n") // the script says what is missing
	}
	if err := c.Wait(); err != nil || last != "end" {
		t.Errorf("%v after %q", err, last)
	}
}
