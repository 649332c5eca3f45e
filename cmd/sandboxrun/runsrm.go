package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"sandboxrun/runner"
)

func (p *program) runsRmCommand() *cli.Command {
	return &cli.Command{
		Name:      "rm",
		Usage:     "forget runs that have ended",
		ArgsUsage: "RUN…",
		Description: `Removes everything the state directory has of these runs. Branches that they
landed stay. A running one is refused.

Examples:
   sandboxrun runs rm RUN`,
		Action: p.runsRm,
	}
}

func (p *program) runsRm(c *cli.Context) error {
	if !c.Args().Present() {
		return &runner.InputError{Message: "needs at least one argument RUN", Hint: "sandboxrun runs list"}
	}
	st, err := p.state()
	if err != nil {
		return err
	}
	// All are looked up first, so that a typo removes nothing.
	var dirs []*runner.RunDir
	for _, name := range c.Args().Slice() {
		dir, err := st.Find(name)
		if err != nil {
			return err
		}
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		if err := st.Remove(dir); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(p.stdout, "removed", dir.ID()); err != nil {
			return err
		}
	}
	return nil
}
