package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/runner/document"
	"sandboxrun/runner/state"
)

func (p *program) runsCommand() *cli.Command {
	return &cli.Command{
		Name:  "runs",
		Usage: "list, show and cancel runs: list, show, logs, diff, cancel, rm",
		Description: `Every run keeps its plan, events, logs, patch and result in the state directory. A
run is named by its id or the beginning of it.`,
		Subcommands: []*cli.Command{
			p.runsListCommand(), p.runsShowCommand(), p.runsLogsCommand(), p.runsDiffCommand(), p.control().Cancel(), p.runsRmCommand(),
		},
	}
}

// findRun returns the run that the only argument of a command names.
func (p *program) findRun(c *cli.Context) (*state.RunDir, error) {
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

func (p *program) runsListCommand() *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "list runs, the newest first",
		Description: `Examples:
   sandboxrun runs list
   sandboxrun runs list --limit 0 --json`,
		Flags: []cli.Flag{
			jsonFlag,
			&cli.IntFlag{Name: "limit", Value: 50, Usage: "at most `N` runs, 0 for all"},
		},
		Action: p.runsList,
	}
}

func (p *program) runsList(c *cli.Context) error {
	st, err := p.state()
	if err != nil {
		return err
	}
	list, err := st.List(max(0, c.Int("limit")))
	if err != nil {
		return err
	}
	if c.Bool(jsonFlag.Name) {
		return p.printJSON(list)
	}
	now := time.Now()
	rows := [][]string{}
	for _, r := range list {
		rows = append(rows, []string{r.RunID, r.TaskID, r.Status, age(now.Sub(r.StartedAt)), r.Branch, render.Fit(r.Summary, 60)})
	}
	return render.Table(p.stdout, []string{"RUN", "TASK", "STATUS", "AGE", "BRANCH", "SUMMARY"}, rows)
}

// age formats a duration in its largest unit.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

func (p *program) runsShowCommand() *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "show the result of a run",
		ArgsUsage: "RUN",
		Description: `Prints the result for people, or with --json the very document that "execute" gave.
For a run without a result it prints the state of the run.

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
	var res document.Result
	if err := json.Unmarshal(data, &res); err != nil {
		return fmt.Errorf("read result of run %s: %w", dir.ID(), err)
	}
	return render.WriteReport(p.stdout, render.TerminalOf(p.stdout, p.getenv), &res)
}

// showUnended prints the state of a run without a result.
func (p *program) showUnended(c *cli.Context, dir *state.RunDir) error {
	info, err := dir.Info()
	if err != nil {
		return err
	}
	if c.Bool(jsonFlag.Name) {
		return p.printJSON(info)
	}
	hint := "follow it with \"sandboxrun runs logs --follow " + info.RunID + "\""
	if info.Status == state.RunCrashed {
		hint = "\"sandboxrun reap\" settles it"
	}
	_, err = fmt.Fprintf(p.stdout, "%s  %s\n  run %s  task %s\n  %s\n",
		info.Status, render.Printable(info.Summary), info.RunID, render.Printable(info.TaskID), hint)
	return err
}

func (p *program) runsRmCommand() *cli.Command {
	return &cli.Command{
		Name:      "rm",
		Usage:     "remove runs that have ended",
		ArgsUsage: "RUN…",
		Description: `Removes everything of these runs from the state directory. Branches that they
landed stay. A running one is refused.

Examples:
   sandboxrun runs rm RUN`,
		Action: p.runsRm,
	}
}

func (p *program) runsRm(c *cli.Context) error {
	return p.rm(c, "RUN", "runs", func(st *state.State, name string) (removal, error) {
		dir, err := st.Find(name)
		if err != nil {
			return removal{}, err
		}
		return removal{id: dir.ID(), remove: func() error { return st.Remove(dir) }}, nil
	})
}
