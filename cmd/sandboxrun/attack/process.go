package attack

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Command is a process that is killed with its whole group when ctx ends.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error {
		err := syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
	c.WaitDelay = time.Second
	return c
}

// outputCap is how much of one stream of a process is kept, in bytes.
const outputCap = 16 << 20

// Output keeps the first [outputCap] bytes that are written to it. It hides the buffer's ReadFrom, which has no cap.
type Output struct{ kept bytes.Buffer }

// Write implements io.Writer; it never fails.
func (c *Output) Write(p []byte) (int, error) {
	if room := outputCap - c.kept.Len(); room > 0 {
		c.kept.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// Bytes returns the kept output.
func (c *Output) Bytes() []byte { return c.kept.Bytes() }

// String returns the kept output.
func (c *Output) String() string { return c.kept.String() }
