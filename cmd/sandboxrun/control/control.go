// Package control has the commands about runs that other processes work on.
package control

import (
	"context"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"sandboxrun/runner/service"
	"sandboxrun/runner/state"
)

// Program is what the commands need of the program they belong to.
type Program interface {
	// Service opens the state directory for requests; the returned function closes what was opened.
	Service() (*service.Service, func(), error)
	// WorkService is Service for a process that runs a task itself.
	WorkService() (*service.Service, func(), error)
	// FindRun returns the id that begins with the word, of a run or of a task that waits.
	FindRun(word string) (string, error)
	// StoredRun returns the run that the only argument of a command names, and the directory of the key that signs results.
	StoredRun(c *cli.Context) (*state.RunDir, string, error)
	// Exit is the error that ends the program with a code and without a message.
	Exit(code int) error
	Environ() []string
	// Interruptible returns a context that a signal ends.
	Interruptible(ctx context.Context) (context.Context, func())
	PrintJSON(v any) error
	Notef(format string, args ...any)
}

// Commands makes the commands.
type Commands struct {
	Program
	Out io.Writer
}

// by is what answers and cancels of these commands name.
const by = "command line"

var jsonFlag = &cli.BoolFlag{Name: "json", Usage: "print JSON instead of text"}

// do calls f with a service until a signal stops it.
func (m Commands) do(c *cli.Context, f func(context.Context, *service.Service) error) error {
	ctx, stop := m.Interruptible(c.Context)
	defer stop()
	s, done, err := m.Service()
	if err != nil {
		return err
	}
	defer done()
	return f(ctx, s)
}

// until is how long is left to a deadline, in words.
func until(deadline time.Time) string {
	left := time.Until(deadline).Round(time.Second)
	if left <= 0 {
		return "now"
	}
	return left.String()
}
