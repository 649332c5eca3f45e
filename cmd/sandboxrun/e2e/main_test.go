// Package e2e drives the real program against the real engine, real
// repositories and the real agent CLI. Nothing in it is a stand-in but the
// model, which is scripted.
package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// Images the tests run in; "make test" makes them.
const (
	agentImage = "sandboxrun/agent"
	goImage    = "sandboxrun/go"
)

// program is the static binary under test, built once.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "sandboxrun-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	program = filepath.Join(dir, "sandboxrun")
	build := exec.Command("go", "build", "-trimpath", "-o", program, "sandboxrun/cmd/sandboxrun")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the program under test: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// needEngine skips, loudly, where there is no engine or not the image.
func needEngine(t *testing.T, image string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "docker", "image", "inspect", "--format", "{{.Id}}", image).CombinedOutput(); err != nil {
		t.Skipf("no engine with the image %s (run \"make setup\"): %s", image, out)
	}
}

// needRuntime skips where the engine lacks an OCI runtime.
func needRuntime(t *testing.T, name string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "docker", "info", "--format", "{{json .Runtimes}}").Output()
	if err != nil {
		t.Skipf("no engine: %v", err)
	}
	if !strings.Contains(string(out), `"`+name+`"`) {
		t.Skipf("the engine has no runtime %s (\"make gvisor\" installs it)", name)
	}
}
