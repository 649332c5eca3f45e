package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"sandboxrun/runner"
)

// removedView is what sessions rm prints with --json.
type removedView struct {
	Removed []string `json:"removed"`
}

func (p *program) sessionsRmCommand() *cli.Command {
	return &cli.Command{
		Name:      "rm",
		Usage:     "forget sessions",
		ArgsUsage: "SESSION…",
		Description: `Removes the sessions and their kept conversations. Their runs and the branches these
landed stay. One with a run under way is refused.

Examples:
   sandboxrun sessions rm SESSION`,
		Flags:  []cli.Flag{jsonFlag},
		Action: p.sessionsRm,
	}
}

func (p *program) sessionsRm(c *cli.Context) error {
	if !c.Args().Present() {
		return &runner.InputError{Message: "needs at least one argument SESSION", Hint: "sandboxrun sessions list"}
	}
	st, err := p.state()
	if err != nil {
		return err
	}
	// All are looked up first, so that a typo removes nothing.
	for _, id := range c.Args().Slice() {
		// A damaged one can be removed as well.
		_, err := st.Session(id)
		if unknown := (*runner.InputError)(nil); errors.As(err, &unknown) {
			return err
		}
	}
	view := removedView{Removed: []string{}}
	for _, id := range c.Args().Slice() {
		if err := st.RemoveSession(c.Context, id); err != nil {
			return err
		}
		view.Removed = append(view.Removed, id)
		if c.Bool(jsonFlag.Name) {
			continue
		}
		if _, err := fmt.Fprintln(p.stdout, "removed", printable(id)); err != nil {
			return err
		}
	}
	if c.Bool(jsonFlag.Name) {
		return p.printJSON(view)
	}
	return nil
}
