package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/urfave/cli/v2"

	"sandboxrun/runner"
)

func (p *program) runsShowCommand() *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "show the result of a run",
		ArgsUsage: "RUN",
		Description: `Prints the result for people, or with --json the very document that "execute" gave.
Of a run that has no result yet it tells how the run stands.

Examples:
   sandboxrun runs show RUN
   sandboxrun runs show --json RUN`,
		Flags:  []cli.Flag{jsonFlag},
		Action: p.runsShow,
	}
}

func (p *program) runsShow(c *cli.Context) error {
	dir, err := p.findRun(c)
	if err != nil {
		return err
	}
	data, err := dir.Result()
	if errors.Is(err, fs.ErrNotExist) {
		return p.showUnended(c, dir)
	}
	if err != nil {
		return err
	}
	if c.Bool(jsonFlag.Name) {
		_, err := p.stdout.Write(data)
		return err
	}
	var res runner.Result
	if err := json.Unmarshal(data, &res); err != nil {
		return fmt.Errorf("read result of run %s: %w", dir.ID(), err)
	}
	return writeReport(p.stdout, terminalOf(p.stdout, p.getenv), &res)
}

// showUnended tells how a run without a result stands.
func (p *program) showUnended(c *cli.Context, dir *runner.RunDir) error {
	info, err := dir.Info()
	if err != nil {
		return err
	}
	if c.Bool(jsonFlag.Name) {
		return p.printJSON(info)
	}
	hint := "follow it with \"sandboxrun runs logs --follow " + info.RunID + "\""
	if info.Status == runner.RunCrashed {
		hint = "\"sandboxrun reap\" clears away after it"
	}
	_, err = fmt.Fprintf(p.stdout, "%s  %s\n  run %s  task %s\n  %s\n",
		info.Status, printable(info.Summary), info.RunID, printable(info.TaskID), hint)
	return err
}
