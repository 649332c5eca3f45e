package control

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"sandboxrun/runner/document"
	"sandboxrun/runner/program"
	"sandboxrun/runner/service"
	"sandboxrun/runner/state"
)

// startBound is how long a worker may take to take its task.
const startBound = 30 * time.Second

// ofSupervisors are variables by which supervisors reach their service; a worker is none.
var ofSupervisors = []string{"NODE_CHANNEL_FD", "NODE_CHANNEL_SERIALIZATION_MODE", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"}

// Worker is the hidden command that works on one task of the queue.
func (m Commands) Worker() *cli.Command {
	return &cli.Command{
		Name:      "worker",
		Usage:     "work on a task of the queue (started by sandboxrun itself)",
		ArgsUsage: "RUN",
		Hidden:    true,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "detach", Usage: "start a worker that belongs to no other process, and return when it has the task"},
			&cli.BoolFlag{Name: "tell", Usage: "close descriptor 3 once the task is taken"},
		},
		Action: func(c *cli.Context) error {
			run := c.Args().First()
			if c.NArg() != 1 || !state.ValidRunID(run) {
				return &document.InputError{Message: "one argument is needed: the id of a run"}
			}
			if c.Bool("detach") {
				return m.detach(run)
			}
			return m.work(c, run)
		},
	}
}

// StartWorker has a worker started by a process that ends at once, so that the worker has no parent.
func StartWorker(ctx context.Context, environ []string, run string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), startBound)
	defer cancel()
	c := exec.CommandContext(ctx, program.Running, "worker", "--detach", run)
	c.Args[0] = "sandboxrun"
	c.Env = withoutSupervisor(environ)
	c.Dir = "/"
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("start worker: %w: %.500s", err, out)
	}
	return nil
}

func withoutSupervisor(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(ofSupervisors, name)
	})
}

// detach starts the worker in a session of its own, with nothing of this process, and waits until it has the task.
func (m Commands) detach(run string) error {
	// What a supervisor left open for its service would be kept open by the worker.
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("start worker: %w", err)
	}
	taken, tell, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start worker: %w", err)
	}
	defer taken.Close()
	c := exec.Command(program.Running, "worker", "--tell", run) //nolint:noctx // it outlives this process
	c.Args[0] = "sandboxrun"
	c.Env = withoutSupervisor(m.Environ())
	c.Dir = "/"
	c.ExtraFiles = []*os.File{tell} // standard streams are /dev/null
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = c.Start()
	if cerr := tell.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("start worker: %w", err)
	}
	if err := taken.SetReadDeadline(time.Now().Add(startBound)); err != nil {
		return fmt.Errorf("start worker: %w", err)
	}
	// The end of the pipe comes when the worker has the task, or has ended: both are seen in the queue.
	if _, err := io.Copy(io.Discard, taken); err != nil {
		return fmt.Errorf("start worker: %w", err)
	}
	return c.Process.Release()
}

// work is the worker itself.
func (m Commands) work(c *cli.Context, run string) error {
	taken := func() {}
	if c.Bool("tell") {
		unix.CloseOnExec(3)
		taken = func() { _ = unix.Close(3) }
	}
	ctx, stop := m.Interruptible(c.Context)
	defer stop()
	s, done, err := m.WorkService()
	if err != nil {
		taken()
		return err
	}
	defer done()
	return s.Work(ctx, run, taken, func(d *state.RunDir) {
		if err := logInto(d.Path("worker.log")); err != nil {
			m.Notef("%v", err) // to nobody, where there is no log
		}
	})
}

// logInto sends what this process prints, a crash included, to a file.
func logInto(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open worker's log: %w", err)
	}
	defer f.Close()
	for _, fd := range []int{1, 2} {
		if err := unix.Dup3(int(f.Fd()), fd, 0); err != nil {
			return fmt.Errorf("open worker's log: %w", err)
		}
	}
	return nil
}

// Wait is "runs wait".
func (m Commands) Wait() *cli.Command {
	return &cli.Command{
		Name:      "wait",
		Usage:     "wait for the end of a run and print its result",
		ArgsUsage: "RUN",
		Description: `Prints the result of a run once it has one, or the error document of a task that
could not be run, and exits as "execute" does. After --timeout it prints the state of
the run instead and exits with 7. Where the machine failed a run and it is repeated,
the result is that of the repetition.

Examples:
   sandboxrun runs wait RUN
   sandboxrun runs wait --timeout 100 RUN`,
		Flags:  []cli.Flag{&cli.IntFlag{Name: "timeout", Usage: "wait at most so many `SECONDS`; 0 for as long as it takes"}},
		Action: m.wait,
	}
}

func (m Commands) wait(c *cli.Context) error {
	if c.NArg() != 1 || c.Int("timeout") < 0 {
		return &document.InputError{Message: "one argument is needed, RUN, and no negative --timeout", Hint: `see "sandboxrun runs wait --help"`}
	}
	run, err := m.FindRun(c.Args().First())
	if err != nil {
		return err
	}
	return m.do(c, func(ctx context.Context, s *service.Service) error {
		limited, cancel := ctx, context.CancelFunc(func() {})
		if n := c.Int("timeout"); n > 0 {
			limited, cancel = context.WithTimeout(ctx, time.Duration(n)*time.Second)
		}
		defer cancel()
		out, err := s.Wait(limited, run)
		switch {
		case err != nil && limited.Err() != nil && ctx.Err() == nil:
			if out.View, err = s.Run(ctx, run); err == nil {
				err = m.PrintJSON(out.View)
			}
			if err == nil {
				err = m.Exit(document.ExitWaiting)
			}
			return err
		case err != nil:
			return err
		case out.Refused != nil:
			if _, err := m.Out.Write(append(out.Refused, '\n')); err != nil {
				return err
			}
			return m.Exit(document.RefusedExitCode(out.Refused))
		}
		if _, err := m.Out.Write(out.Result); err != nil {
			return err
		}
		return m.Exit(document.StoredExitCode(out.Result))
	})
}
