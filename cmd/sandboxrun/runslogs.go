package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/runner/document"
	"sandboxrun/runner/state"
)

func (p *program) runsLogsCommand() *cli.Command {
	return &cli.Command{
		Name:      "logs",
		Usage:     "print the events of a run",
		ArgsUsage: "RUN",
		Description: `Prints one line for every event that is worth one, as "execute" shows them. With
--raw, every event as it is in the journal, one JSON object a line. The whole
outputs of commands are in the files that the result lists as logs.

Examples:
   sandboxrun runs logs RUN
   sandboxrun runs logs --follow RUN
   sandboxrun runs logs --raw RUN`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "wait for more until the run ends"},
			&cli.BoolFlag{Name: "raw", Usage: "print the events as JSON"},
		},
		Action: p.runsLogs,
	}
}

func (p *program) runsLogs(c *cli.Context) error {
	dir, err := p.findRun(c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(c.Context)
	defer cancel()
	if c.Bool("raw") {
		return p.rawEvents(ctx, dir, c.Bool("follow"))
	}
	term := render.TerminalOf(p.stdout, p.getenv)
	var t render.Timeline
	for e, err := range dir.Events(ctx, 1, c.Bool("follow")) {
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

// rawEvents prints events unchanged. A follower sees each at once.
func (p *program) rawEvents(ctx context.Context, dir *state.RunDir, follow bool) error {
	out := bufio.NewWriterSize(p.stdout, 64<<10)
	for e, err := range dir.Events(ctx, 1, follow) {
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
		return &document.InputError{Message: "run " + dir.ID() + " has no patch", Hint: "it changed nothing, has not got that far, or its change contains a secret"}
	}
	return p.printPatch(dir.PatchPath())
}

// printPatch copies a patch to standard output: byte for byte into a pipe or
// file, escaped and coloured on a terminal.
func (p *program) printPatch(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("open patch: %w", err)
	}
	defer f.Close()
	if term := render.TerminalOf(p.stdout, p.getenv); term.IsTTY {
		return render.WritePatch(p.stdout, term, f)
	}
	if _, err := io.Copy(p.stdout, f); err != nil {
		return fmt.Errorf("print patch: %w", err)
	}
	return nil
}
