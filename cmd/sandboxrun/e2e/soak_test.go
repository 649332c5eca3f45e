package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/internal/testenv"
)

// TestAShortSoakLosesAndLeaksNothing runs the beginning of "make soak": runners die and boxes vanish while others
// work, and everything is counted.
func TestAShortSoakLosesAndLeaksNothing(t *testing.T) {
	t.Parallel()
	testenv.Engine(t, agentImage)
	soak := filepath.Join(t.TempDir(), "soak")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", soak, "sandboxrun/scripts/soak").CombinedOutput(); err != nil {
		t.Fatalf("build the soak: %v\n%s", err, out)
	}
	tasks := "12"
	if testenv.All() {
		tasks = "50"
	}
	c := exec.CommandContext(t.Context(), soak, "-bin", program, "-tasks", tasks, "-seed", "1")
	c.Env = append(c.Environ(), "TMPDIR="+t.TempDir())
	var said strings.Builder
	c.Stderr = &said
	table, err := c.Output()
	if err != nil || !strings.Contains(string(table), "violations: 0\n") {
		t.Errorf("%v\n%s%s", err, said.String(), table)
	}
	t.Logf("%s", table)
}
