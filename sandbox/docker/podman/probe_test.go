package podman

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestProbeScriptPrintsFilesAndPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	// A line that looks like the script's own output, and no newline at the end.
	if err := os.WriteFile(file, []byte("there /proc/kcore\n  Name:\tx \\n\nend"), 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing")
	out, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", probeScript, "probe",
		file, missing, "/proc/self/mountinfo", "--", file, missing, "--", dir, missing).Output()
	if err != nil {
		t.Fatal(err)
	}
	v, err := parseView(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(v.files[file], "|"); got != "there /proc/kcore|  Name:\tx \\n|end" {
		t.Errorf("file %q", got)
	}
	if _, ok := v.files[missing]; ok || !slices.Equal(v.there, []string{file}) || !slices.Equal(v.writable, []string{dir}) {
		t.Errorf("there %q, writable %q, files %d", v.there, v.writable, len(v.files))
	}
	if v.mount("/") == nil || v.mount("/no/such/mount") != nil {
		t.Errorf("%d mounts", len(v.mounts))
	}
	// Output that was cut short is refused.
	if _, err := parseView(bytes.NewReader(out[:len(out)-5])); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut short: %v", err)
	}
}
