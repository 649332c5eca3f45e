package deploy

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// verify lets systemd judge a unit whose program exists.
func verify(t *testing.T, unit string) string {
	t.Helper()
	const program = "/usr/local/bin/sandboxrun"
	if !strings.Contains(unit, "ExecStart="+program) {
		t.Fatal("the unit does not start the program")
	}
	path := filepath.Join(t.TempDir(), "sandboxrun.service")
	if err := os.WriteFile(path, []byte(strings.Replace(unit, program, "/bin/true", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	var told bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "systemd-analyze", "verify", path)
	cmd.Stdout, cmd.Stderr = &told, &told
	if err := cmd.Run(); err != nil {
		told.WriteString(err.Error())
	}
	// Other units of the machine are judged along with it.
	var about []string
	for line := range strings.Lines(told.String()) {
		if strings.Contains(line, path) || strings.Contains(line, "exit status") {
			about = append(about, line)
		}
	}
	return strings.Join(about, "")
}

func TestSystemdTakesTheUnit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed: ", err)
	}
	if said := verify(t, Systemd); said != "" {
		t.Error(said)
	}
	if verify(t, Systemd+"NoSuchKey=1\n") == "" {
		t.Error("a wrong unit is not told from a right one")
	}
}
