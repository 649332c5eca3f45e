package main

import (
	"io"
	"sync"

	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/usage"
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
	people    bool   // standard output is a person's terminal: a report takes the place of the document
	writing   sync.Mutex
	written   bool

	words  []string   // of the command line, the program first
	hidden hidden     // what must not be shown
	screen sync.Mutex // held while something draws on standard error
}

// complete sets for every command what the library does not inherit.
func (p *program) complete(cmds []*cli.Command) {
	for _, c := range cmds {
		c.OnUsageError = usage.Failed
		c.HideHelpCommand = true
		if c.Name == "list" {
			c.Aliases = append(c.Aliases, "ls")
		}
		if c.Action == nil {
			c.Action = group
		}
		c.BashComplete = p.suggest(c)
		p.complete(c.Subcommands)
	}
}

// group is the action of a command that only holds others: help, or an error
// that names the unknown word.
func group(c *cli.Context) error {
	if c.Args().Present() {
		return usage.UnknownCommand(c)
	}
	if c.Command.Name == c.App.Name || c.Command.Name == "" {
		return cli.ShowAppHelp(c)
	}
	return cli.ShowSubcommandHelp(c)
}
