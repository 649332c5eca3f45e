// Command sandboxrun runs a task for an untrusted coding agent in a throwaway
// container and reports what really changed. This package is flags, wiring and
// exit codes; the work is done by package runner.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"

	"github.com/urfave/cli/v2"

	_ "sandboxrun/agents/all" // the agents register themselves
	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/cmd/sandboxrun/usage"
	"sandboxrun/runner/goapi"
	"sandboxrun/runner/goapi/extract"
	"sandboxrun/runner/harness"
	"sandboxrun/runner/reader"
	"sandboxrun/sandbox"
)

func main() { os.Exit(mainCode()) }

// mainCode is main without the exit, so that tests can run it as a command.
func mainCode() int {
	if len(os.Args) == 2 && os.Args[1] == reader.Command { // before anything that a child has no use for
		return reader.Main(context.Background())
	}
	if len(os.Args) == 2 && os.Args[1] == goapi.Command { // in a box
		return extract.Main(sandbox.WorkDir, os.Stdout)
	}
	if harness.StandsForGo(os.Args[0]) { // in a box, beside a command of the verification
		return harness.GoMain(context.Background(), os.Args[1:])
	}
	boundMemory()
	// A reader that goes away early must not kill the run: with a handler
	// installed a write to a closed pipe is an error instead of a signal.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	p := &program{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		getenv: os.Getenv, environ: os.Environ, exit: os.Exit,
	}
	return p.run(context.Background(), os.Args)
}

// run runs the command line args, args[0] being the program, and returns its
// exit code.
func (p *program) run(ctx context.Context, args []string) int {
	app := p.app()
	if p.words = args; usage.Completes(args) {
		return p.report(app.RunContext(ctx, args))
	}
	cmd, args := usage.Arrange(app, args)
	p.documents = cmd != nil && (slices.Contains([]string{"execute", "plan", "run"}, cmd.Name))
	p.people = p.documents && cmd.Name != "plan" && render.TerminalOf(p.stdout, p.getenv).IsTTY && !slices.Contains(args, "--json")
	return p.report(app.RunContext(ctx, args))
}

// app is the whole command tree.
func (p *program) app() *cli.App {
	app := &cli.App{
		Name:            "sandboxrun",
		Usage:           "run a task for a coding agent in a throwaway container and report what really changed",
		Description:     appDescription,
		HideHelpCommand: true,

		EnableBashCompletion: true,
		Reader:               p.stdin,
		Writer:               p.stdout,
		ErrWriter:            p.stderr,
		ExitErrHandler:       func(*cli.Context, error) {}, // report does it, in one place
		OnUsageError:         usage.Failed,
		Action:               group,
		Commands: []*cli.Command{
			p.executeCommand(), p.planCommand(), p.runsCommand(), p.sessionsCommand(), p.control().Approvals(), p.applyCommand(),
			p.agentsCommand(), p.profilesCommand(), p.imageCommands(), p.doctorCommand(), p.reapCommand(),
			p.serveCommand(), p.openCommand(), p.schemaCommand(), p.versionCommand(), p.demoCommand(), p.guestCommand(), p.lookCommand(), p.control().Worker(),
		},
	}
	app.Commands = slices.Concat(app.Commands, p.callers().All(), p.beginCommands(), []*cli.Command{p.completionCommand()})
	p.complete(app.Commands)
	app.BashComplete = p.suggest(&cli.Command{Subcommands: app.Commands})
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
   sandboxrun demo
   sandboxrun run "make the tests pass" --check "npm test"`

// memoryGoal is the heap size, in bytes, that the collector works to stay below. Memory in use may exceed it: a change
// of very many files is held as a list. What a box left is read elsewhere.
const memoryGoal = 64 << 20

// boundMemory sets the goal, unless the environment has one. Without it the heap grows to twice the largest size ever
// in use.
func boundMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryGoal)
	}
}
