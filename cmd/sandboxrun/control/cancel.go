package control

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/runner/document"
	"sandboxrun/runner/mailbox"
	"sandboxrun/runner/service"
)

// Cancel is "runs cancel".
func (m Commands) Cancel() *cli.Command {
	return &cli.Command{
		Name:      "cancel",
		Aliases:   []string{"stop"},
		Usage:     "cancel a run of another process",
		ArgsUsage: "RUN",
		Description: `Ends a run in whatever phase it is. Its box is removed, what was done so far stays
in its patch, nothing lands, and its result has the code "cancelled". The command
returns when the run has ended. The process of a run that does not end within 20
seconds gets SIGTERM, and is killed 30 seconds later.

Examples:
   sandboxrun runs cancel RUN
   sandboxrun runs cancel --reason "wrong base" RUN`,
		Flags: []cli.Flag{
			jsonFlag,
			&cli.StringFlag{Name: "reason", Usage: "`TEXT` for the result"},
			&cli.BoolFlag{Name: "no-wait", Usage: "do not wait for the end of the run"},
		},
		Action: m.cancel,
	}
}

func (m Commands) cancel(c *cli.Context) error {
	if c.NArg() != 1 {
		return &document.InputError{Message: "one argument is needed: RUN", Hint: `see "sandboxrun runs cancel --help"`}
	}
	run, err := m.FindRun(c.Args().First())
	if err != nil {
		return err
	}
	return m.do(c, func(ctx context.Context, s *service.Service) error {
		v, err := s.Cancel(ctx, run, mailbox.Cancel{By: by, Reason: c.String("reason")})
		if err == nil && !c.Bool("no-wait") {
			if err = s.Enforce(ctx, run); err == nil {
				v, err = s.Run(ctx, run)
			}
		}
		if err != nil {
			return err
		}
		if c.Bool(jsonFlag.Name) {
			return m.PrintJSON(v)
		}
		_, err = fmt.Fprintf(m.Out, "run %s: %s %s\n", v.RunID, v.State, render.Printable(v.Summary))
		return err
	})
}
