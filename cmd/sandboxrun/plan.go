package main

import "github.com/urfave/cli/v2"

func (p *program) planCommand() *cli.Command {
	return &cli.Command{
		Name:      "plan",
		Usage:     "print what a task compiles to, without running anything",
		ArgsUsage: "TASK.json|-",
		Description: `Reads a task like "execute" does, with the same flags, and prints the plan: pure
data made from the task, the configuration and the flags. No engine is asked and
no repository is opened.

Examples:
   sandboxrun plan task.json
   sandboxrun plan --require-tier runsc task.json
   sandboxrun plan --agent claude --land none task.json`,
		Flags: p.overrideFlags(),
		Action: func(c *cli.Context) error {
			plan, err := p.compile(c)
			if err != nil {
				return err
			}
			return p.printJSON(plan)
		},
	}
}
