// Package callers has the commands by which other programs use this one: the MCP server, the skill.
package callers

import (
	"context"
	"io"

	"github.com/urfave/cli/v2"

	"sandboxrun/runner/config"
	"sandboxrun/runner/service"
	"sandboxrun/runner/state"
)

// Program is what the commands need of the program they belong to.
type Program interface {
	Config() (config.Config, error)
	State() (*state.State, error)
	// Service opens the state directory for requests; the returned function closes what was opened.
	Service() (*service.Service, func(), error)
	// Interruptible returns a context that a signal ends.
	Interruptible(ctx context.Context) (context.Context, func())
	Getenv(name string) string
	Version() string
	PrintJSON(v any) error
}

// Commands makes the commands.
type Commands struct {
	Program

	In       io.Reader
	Out, Err io.Writer
}

// All lists the commands.
func (m Commands) All() []*cli.Command { return []*cli.Command{m.MCP(), m.Skill()} }
