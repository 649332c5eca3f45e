package main

import (
	"os"

	"github.com/urfave/cli/v2"

	"sandboxrun/runner"
)

func (p *program) runsDiffCommand() *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "print the patch of a run",
		ArgsUsage: "RUN",
		Description: `Into a pipe or file the patch is printed byte for byte, for "git apply" on the
run's base commit. On a terminal it is coloured and control characters are escaped.

Examples:
   sandboxrun runs diff RUN
   sandboxrun runs diff RUN > change.patch`,
		Action: p.runsDiff,
	}
}

func (p *program) runsDiff(c *cli.Context) error {
	dir, err := p.findRun(c)
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir.PatchPath()); os.IsNotExist(err) {
		return &runner.InputError{Message: "run " + dir.ID() + " has no patch", Hint: "it changed nothing, has not come that far, or its change holds a secret"}
	}
	return p.printPatch(dir.PatchPath())
}
