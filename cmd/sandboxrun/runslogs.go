package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"sandboxrun/runner"
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
	term := terminalOf(p.stdout, p.getenv)
	var t tale
	for e, err := range dir.Events(ctx, 1, c.Bool("follow")) {
		if err != nil {
			return err
		}
		if text := t.line(e, term); text != "" {
			if _, err := fmt.Fprintln(p.stdout, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// rawEvents prints events as they are. A follower sees each at once.
func (p *program) rawEvents(ctx context.Context, dir *runner.RunDir, follow bool) error {
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
