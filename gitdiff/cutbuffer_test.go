package gitdiff

import (
	"io"
	"os/exec"
	"strings"
	"testing"
)

// Output of a process arrives by way of io.Copy, which prefers a ReadFrom to Write.
func TestOutputOfGitIsBounded(t *testing.T) {
	t.Parallel()
	var copied, ran cutBuffer
	_, err := io.Copy(&copied, strings.NewReader(strings.Repeat("x", 3*strictOutput)))
	must(t, err)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "head -c 1000000 /dev/zero >&2")
	cmd.Stderr = &ran
	must(t, cmd.Run())
	wantEqual(t, "copied", len(copied.String()), strictOutput)
	wantEqual(t, "ran", len(ran.String()), strictOutput)
}
