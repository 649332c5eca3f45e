package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	testscript.Main(leakChecked{m}, map[string]func(){
		"sandboxrun": func() { os.Exit(mainCode()) },
	})
}

// leakChecked is a test run that fails when goroutines outlive it.
type leakChecked struct{ m *testing.M }

func (l leakChecked) Run() int {
	code := l.m.Run()
	if built.dir != "" {
		if err := os.RemoveAll(built.dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// built is the real program, built once for the tests that open boxes: the test binary itself is linked dynamically
// and cannot be the main process of one.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// staticProgram returns the path of a freshly built sandboxrun.
func staticProgram(t testing.TB) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "sandboxrun-test-"); built.err != nil { //nolint:usetesting // it outlives the test that made it
			return
		}
		cmd := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(built.dir, "sandboxrun"), ".")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, "sandboxrun")
}

// testProgram is a program without environment, streams or exit.
func testProgram() *program {
	return &program{
		stdout: io.Discard, stderr: io.Discard,
		getenv:  func(string) string { return "" },
		environ: func() []string { return nil },
		exit:    func(int) { panic("exit called") },
	}
}
