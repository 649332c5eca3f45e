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
	// FindRun returns the run whose id begins with the word.
	FindRun(word string) (*state.RunDir, error)
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
