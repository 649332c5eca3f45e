package reader

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// built is the real program, built so that its children can be made to fail.
var built string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "sandboxrun-reader-")
	if err == nil {
		built = filepath.Join(dir, "sandboxrun")
		build := exec.Command("go", "build", "-tags", "sandboxrun_mortal", "-buildvcs=false", "-o", built, "sandboxrun/cmd/sandboxrun")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		build.Stderr = os.Stderr
		err = build.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "build the program:", err)
		os.Exit(1)
	}
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
