package main

import "github.com/urfave/cli/v2"

func (p *program) sessionsCommand() *cli.Command {
	return &cli.Command{
		Name:  "sessions",
		Usage: "look at sessions: list, show, rm",
		Description: `A session is one conversation with an agent over several runs. The first run with a
"session_id" (or --session) begins it; each later one gets a new box, the agent's
own conversation so far, and the files that the run before left.`,
		Subcommands: []*cli.Command{p.sessionsListCommand(), p.sessionsShowCommand(), p.sessionsRmCommand()},
	}
}
