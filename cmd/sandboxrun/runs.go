package main

import (
	"github.com/urfave/cli/v2"

	"sandboxrun/runner"
)

func (p *program) runsCommand() *cli.Command {
	return &cli.Command{
		Name:  "runs",
		Usage: "look at runs: list, show, logs, diff, rm",
		Description: `Every run keeps its plan, events, logs, patch and result in the state directory. A
run is named by its id or the beginning of it.`,
		Subcommands: []*cli.Command{
			p.runsListCommand(), p.runsShowCommand(), p.runsLogsCommand(), p.runsDiffCommand(), p.runsRmCommand(),
		},
	}
}

// findRun returns the run that the only argument of a command names.
func (p *program) findRun(c *cli.Context) (*runner.RunDir, error) {
	name, err := oneArgument(c, "RUN")
	if err != nil {
		return nil, err
	}
	st, err := p.state()
	if err != nil {
		return nil, err
	}
	return st.Find(name)
}
