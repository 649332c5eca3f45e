package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/runner/client"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
)

func (p *program) runsLogsCommand() *cli.Command {
	return &cli.Command{
		Name:      "logs",
		Usage:     "print the events of a run",
		ArgsUsage: "RUN",
		Description: `Prints one line for every event that is worth one, as "execute" shows them. With
--raw, every event as it is in the journal, one JSON object a line. The whole
outputs of commands are in the files that the result lists as logs.

With --server the events come from a server, and RUN is a whole id: auto is the
server of this state directory. --follow then outlives a restart of the server.

Examples:
   sandboxrun runs logs RUN
   sandboxrun runs logs --follow RUN
   sandboxrun runs logs --raw RUN`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "wait for more until the run ends"},
			&cli.BoolFlag{Name: "raw", Usage: "print the events as JSON"},
			serverFlag,
		},
		Action: p.runsLogs,
	}
}

func (p *program) runsLogs(c *cli.Context) error {
	events, done, err := p.eventsOf(c)
	if err != nil {
		return err
	}
	defer done()
	if c.Bool("raw") {
		return p.rawEvents(events, c.Bool("follow"))
	}
	term := render.TerminalOf(p.stdout, p.getenv)
	var t render.Timeline
	for e, err := range events {
		if err != nil {
			return err
		}
		if text := t.Line(e, term); text != "" {
			if _, err := fmt.Fprintln(p.stdout, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// serverFlag names a server instead of the state directory.
var serverFlag = &cli.StringFlag{Name: "server", Usage: "ask the server at `URL`, or auto for that of this state directory"}

// eventsOf reads the events of the run that the only argument names, from the state directory or from a server. The
// returned function releases what was opened.
func (p *program) eventsOf(c *cli.Context) (iter.Seq2[journal.Event, error], func(), error) {
	ctx, cancel := context.WithCancel(c.Context)
	follow := c.Bool("follow")
	if !c.IsSet(serverFlag.Name) {
		dir, err := p.findRun(c)
		if err != nil {
			cancel()
			return nil, nil, err
		}
		return dir.Events(ctx, 1, follow), cancel, nil
	}
	run, err := oneArgument(c, "RUN")
	if err != nil {
		cancel()
		return nil, nil, err
	}
	server, err := p.server(c)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	return server.Events(ctx, run, 1, follow), func() { cancel(); server.Close() }, nil
}

// server is a client of the server that --server names.
func (p *program) server(c *cli.Context) (*client.Client, error) {
	dir, err := config.StateDir(p.getenv)
	if err != nil {
		return nil, err
	}
	return client.New(dir, c.String(serverFlag.Name))
}

// rawEvents prints events unchanged. A follower sees each at once.
func (p *program) rawEvents(events iter.Seq2[journal.Event, error], follow bool) error {
	out := bufio.NewWriterSize(p.stdout, 64<<10)
	for e, err := range events {
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		line, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("encode event: %w", err)
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
		if follow {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

func (p *program) runsDiffCommand() *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "print the patch of a run",
		ArgsUsage: "RUN",
		Description: `Into a pipe or file the patch is printed byte for byte, for "git apply" on the
run's base commit. On a terminal it is coloured, control characters are escaped,
and PAGER shows it.

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
		return &document.InputError{Message: "run " + dir.ID() + " has no patch", Hint: "it changed nothing, has not got that far, or its change contains a secret"}
	}
	return p.printPatch(c.Context, dir.PatchPath())
}

// printPatch copies a patch to standard output: byte for byte into a pipe or
// file, escaped and coloured on a terminal.
func (p *program) printPatch(ctx context.Context, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("open patch: %w", err)
	}
	defer f.Close()
	if term := render.TerminalOf(p.stdout, p.getenv); term.IsTTY {
		return render.Page(ctx, p.stdout, term, p.getenv, func(w io.Writer) error { return render.WritePatch(w, term, f) })
	}
	if _, err := io.Copy(p.stdout, f); err != nil {
		return fmt.Errorf("print patch: %w", err)
	}
	return nil
}
