package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/runner"
	"sandboxrun/runner/document"
	"sandboxrun/runner/state"
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

// removal is something that "rm" was asked to remove and has found.
type removal struct {
	id     string
	remove func() error
}

// removedView is what sessions rm prints with --json.
type removedView struct {
	Removed []string `json:"removed"`
}

// rm removes what the arguments name: RUN or SESSION, which the commands called list show. All are looked up first, so
// that a typo removes nothing.
func (p *program) rm(c *cli.Context, argument, list string, find func(st *state.State, name string) (removal, error)) error {
	if !c.Args().Present() {
		return &document.InputError{Message: "needs at least one argument " + argument, Hint: "sandboxrun " + list + " list"}
	}
	st, err := p.state()
	if err != nil {
		return err
	}
	var found []removal
	for _, name := range c.Args().Slice() {
		r, err := find(st, name)
		if err != nil {
			return err
		}
		found = append(found, r)
	}
	view := removedView{Removed: []string{}}
	for _, r := range found {
		if err := r.remove(); err != nil {
			return err
		}
		view.Removed = append(view.Removed, r.id)
		if c.Bool(jsonFlag.Name) {
			continue
		}
		if _, err := fmt.Fprintln(p.stdout, "removed", render.Printable(r.id)); err != nil {
			return err
		}
	}
	if c.Bool(jsonFlag.Name) {
		return p.printJSON(view)
	}
	return nil
}
