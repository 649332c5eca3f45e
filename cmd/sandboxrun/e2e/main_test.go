// Package e2e drives the real program against the real engine, real repositories and the real agent CLI. Only the
// model is replaced, by a scripted one.
package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	_ "sandboxrun/agents/all" // as the program has them
	"sandboxrun/internal/testenv"
)

// goImage is an image of the tests' boxes; "make test" makes it.
const goImage = "sandboxrun/go"

// agentImage is the image with the real agents.
var agentImage = testenv.AgentImage()

// program is the static binary under test, built once.
var program string

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		os.Exit(m.Run()) // no test that needs the program runs
	}
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
