package agentstest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sandboxrun/internal/testenv"
	"sandboxrun/sandbox"
)

// boxUser is the user of the test boxes: whoever runs the tests, so that their
// files can be removed again, but never root.
func boxUser() int {
	if uid := os.Getuid(); uid != 0 {
		return uid
	}
	return 10001
}

// RealBox is a box made with the docker command line. It shares the network
// of the host, because the scripted model server listens on loopback: this is
// a place to run a CLI in, not a sandbox.
type RealBox struct {
	ID        string
	workspace string // the host's directory behind sandbox.WorkDir
	home      string // and behind sandbox.Home
	remove    sync.Once
}

// firstProcess is the first process of a box: it collects orphans, and stays for
// ten minutes whatever becomes of the others.
const firstProcess = `end=$(($(date +%s) + 600)); while [ "$(date +%s)" -lt "$end" ]; do sleep 600 & wait; done`

// OpenBox starts a box over workspace and home, which may be of an earlier box.
func OpenBox(t *testing.T, workspace, home string) *RealBox {
	t.Helper()
	image := testenv.AgentImage()
	testenv.Engine(t, image)
	for _, dir := range []string{workspace, home} {
		if err := chownTree(dir); err != nil {
			t.Skipf("cannot give %s to the user of the box: %v", dir, err)
		}
	}
	out, err := exec.CommandContext(t.Context(), "docker", "run", "-d", "--network", "host",
		"--read-only", "--tmpfs", "/tmp:exec,mode=1777", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
		"--pids-limit", "256", "--memory", "2g", "--user", fmt.Sprintf("%d:%d", boxUser(), boxUser()),
		"-v", workspace+":"+sandbox.WorkDir, "-v", home+":"+sandbox.Home, "-w", sandbox.WorkDir,
		"--label", "sandboxrun-agents-test=1", image, "sh", "-c", firstProcess).CombinedOutput()
	if err != nil {
		t.Fatalf("start box: %v: %s", err, out)
	}
	b := &RealBox{ID: strings.TrimSpace(string(out)), workspace: workspace, home: home}
	t.Cleanup(func() {
		if err := b.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return b
}

func chownTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, boxUser(), -1) //nolint:gosec // temporary directories of the test
	})
}

// Exec implements sandbox.Sandbox.
func (b *RealBox) Exec(ctx context.Context, c sandbox.Command) (sandbox.Exit, error) {
	args := []string{"exec", "-i"}
	for _, e := range c.Env {
		args = append(args, "-e", e)
	}
	cmd := exec.CommandContext(ctx, "docker", append(append(args, b.ID), c.Argv...)...)
	cmd.Stdout, cmd.Stderr = c.Stdout, c.Stderr
	// A pipe of our own: os/exec would wait for a Stdin that blocks.
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return sandbox.Exit{}, err
	}
	cmd.Cancel = func() error {
		return errors.Join(b.Close(context.WithoutCancel(ctx)), cmd.Process.Kill())
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return sandbox.Exit{}, err
	}
	go func() {
		if c.Stdin != nil {
			_, _ = io.Copy(stdin, c.Stdin)
		}
		_ = stdin.Close()
	}()
	err = cmd.Wait()
	var status *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return sandbox.Exit{}, context.Cause(ctx)
	case err != nil && !errors.As(err, &status):
		return sandbox.Exit{}, err
	}
	return sandbox.Exit{Code: cmd.ProcessState.ExitCode(), Duration: time.Since(start)}, nil
}

// Stdio implements sandbox.Sandbox; nothing listens there.
func (b *RealBox) Stdio() io.ReadWriteCloser { return nil }

// Close implements sandbox.Sandbox.
func (b *RealBox) Close(ctx context.Context) (err error) {
	b.remove.Do(func() {
		if out, e := exec.CommandContext(ctx, "docker", "rm", "-f", "-v", b.ID).CombinedOutput(); e != nil {
			err = fmt.Errorf("remove box: %w: %s", e, out)
		}
	})
	return err
}
