package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/runner"
)

func (p *program) reapCommand() *cli.Command {
	return &cli.Command{
		Name:  "reap",
		Usage: "remove what crashed runs left behind",
		Description: `Removes boxes, volumes and trees that belong to no live run of this state
directory, and writes the result of every run whose runner died. "execute" does
the same when it finds a crashed run.

Examples:
   sandboxrun reap
   sandboxrun reap --json`,
		Flags: []cli.Flag{jsonFlag},
		Action: func(c *cli.Context) error {
			return p.withRunner(c, func(ctx context.Context, r *runner.Runner) error {
				report, err := r.Reap(ctx)
				if c.Bool(jsonFlag.Name) {
					if perr := p.printJSON(report); err == nil {
						err = perr
					}
					return err
				}
				p.printReap(report)
				return err
			})
		},
	}
}

func (p *program) printReap(r runner.ReapReport) {
	for _, id := range r.Runs {
		fmt.Fprintf(p.stdout, "settled run %s\n", render.Printable(id))
	}
	for _, name := range r.Removed {
		fmt.Fprintf(p.stdout, "removed %s\n", render.Printable(name))
	}
	if len(r.Runs)+len(r.Removed) == 0 {
		fmt.Fprintln(p.stdout, "nothing to remove")
	}
}
