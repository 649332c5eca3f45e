package main

import (
	"context"
	"io"
	"sync"

	"github.com/urfave/cli/v2"

	"sandboxrun/runner"
)

// program is one invocation of the command: its streams, its environment, and
// what it has opened so far.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	environ        func() []string
	exit           func(int) // ends the process at once; only a second signal uses it

	// documents is set for commands whose standard output is one JSON document,
	// so that an error is one as well.
	documents bool
	output    string // file that gets a copy of the document
	compact   bool   // the document is one line, because events share its stream
	writing   sync.Mutex
	written   bool

	hidden hidden     // what must not be shown
	screen sync.Mutex // held while something draws on standard error
}

// run runs the command line args, args[0] being the program, and returns its
// exit code.
func (p *program) run(ctx context.Context, args []string) int {
	app := p.app()
	cmd, args := arrange(app, args)
	p.documents = cmd != nil && (cmd.Name == "execute" || cmd.Name == "plan")
	return p.report(app.RunContext(ctx, args))
}

// app is the whole command tree.
func (p *program) app() *cli.App {
	app := &cli.App{
		Name:            "sandboxrun",
		Usage:           "run a task for a coding agent in a throwaway container and report what really changed",
		Description:     appDescription,
		HideHelpCommand: true,
		Reader:          p.stdin,
		Writer:          p.stdout,
		ErrWriter:       p.stderr,
		ExitErrHandler:  func(*cli.Context, error) {}, // report does it, in one place
		OnUsageError:    usageFailed,
		Action:          group,
		Commands: []*cli.Command{
			p.executeCommand(), p.planCommand(), p.runsCommand(), p.sessionsCommand(), p.applyCommand(),
			p.agentsCommand(), p.profilesCommand(), p.imageCommand(), p.doctorCommand(), p.reapCommand(),
			p.schemaCommand(), p.versionCommand(), p.demoCommand(), p.guestCommand(), p.lookCommand(),
		},
	}
	complete(app.Commands)
	return app
}

const appDescription = `A task is a JSON document: a repository, an objective, instructions, and how to
check the work. The agent works on a copy of the repository in a container
without network, capabilities or keys. What it changed is read from git objects,
checked in a fresh container, and comes back as one JSON document and one new
branch; the repository's own branch, index and files stay as they are.

Exit codes: 0 success, 1 internal error, 2 invalid input or usage, 3 partial,
4 failed, 5 engine not there or broken, 6 stopped by a limit, 129, 130
and 143 interrupted by SIGHUP, SIGINT and SIGTERM.

Start here:
   sandboxrun doctor
   sandboxrun demo`

// complete gives every command what the library does not pass down.
func complete(cmds []*cli.Command) {
	for _, c := range cmds {
		c.OnUsageError = usageFailed
		c.HideHelpCommand = true
		if c.Action == nil {
			c.Action = group
		}
		complete(c.Subcommands)
	}
}

// group is the action of a command that only holds others: help, or an error
// that names the unknown word.
func group(c *cli.Context) error {
	if c.Args().Present() {
		return &runner.InputError{Message: "no command is called \"" + c.Args().First() + "\"", Hint: "see --help"}
	}
	if c.Command.Name == c.App.Name || c.Command.Name == "" {
		return cli.ShowAppHelp(c)
	}
	return cli.ShowSubcommandHelp(c)
}
