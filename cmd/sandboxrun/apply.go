package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"sandboxrun/runner"
)

func (p *program) applyCommand() *cli.Command {
	return &cli.Command{
		Name:      "apply",
		Usage:     "bring the change of a run into the working tree of its repository",
		ArgsUsage: "RUN",
		Description: `Writes what the run changed into the files of its repository, without staging or
committing anything. It refuses, before touching a file, when a file it would
change differs from the run's base.

Examples:
   sandboxrun apply RUN`,
		Flags: []cli.Flag{jsonFlag},
		Action: func(c *cli.Context) error {
			id, err := oneArgument(c, "RUN")
			if err != nil {
				return err
			}
			return p.withRunner(c, func(ctx context.Context, r *runner.Runner) error {
				report, err := r.Apply(ctx, id)
				if err != nil {
					return err
				}
				if c.Bool(jsonFlag.Name) {
					return p.printJSON(report)
				}
				for _, f := range report.Files {
					fmt.Fprintf(p.stdout, "%s\n", printable(f))
				}
				_, err = fmt.Fprintf(p.stdout, "applied run %s: %d files\n", printable(report.Run), len(report.Files))
				return err
			})
		},
	}
}
