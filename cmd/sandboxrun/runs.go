package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/runner/document"
	"sandboxrun/runner/state"
)

func (p *program) runsCommand() *cli.Command {
	return &cli.Command{
		Name:  "runs",
		Usage: "list, show, cancel and remove runs: list, show, logs, diff, report, verify, wait, cancel, rm, prune",
		Description: `Every run keeps its plan, events, logs, patch and result in the state directory. A
run is named by its id or the beginning of it, as "last", or by its task or branch,
which name the newest of theirs.`,
		Subcommands: []*cli.Command{
			p.runsListCommand(), p.runsShowCommand(), p.runsLogsCommand(), p.runsDiffCommand(), p.control().Verify(), p.callers().Report(), p.control().Wait(), p.control().Cancel(), p.runsRmCommand(),
			p.runsPruneCommand(),
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
	return st.FindNamed(name)
}

func (p *program) runsListCommand() *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "list runs, the newest first",
		Description: `On a terminal ids are cut to what names a run, and lines to its width. Into a pipe
everything is whole.

Examples:
   sandboxrun runs list
   sandboxrun runs list --status failed --limit 5
   sandboxrun runs list --repo .
   sandboxrun runs list --limit 0 --json`,
		Flags: []cli.Flag{
			jsonFlag,
			&cli.IntFlag{Name: "limit", Value: 50, Usage: "at most `N` runs, 0 for all"},
			&cli.StringFlag{Name: "status", Usage: "only runs with this `STATUS`: success, partial, failed, running or crashed"},
			&cli.StringFlag{Name: "repo", Usage: "only runs of the repository `DIR`"},
			&cli.StringFlag{Name: "agent", Usage: "only runs of the agent `NAME`"},
		},
		Action: p.runsList,
	}
}

// runStatuses are what runs list --status takes.
var runStatuses = []string{
	string(document.StatusSuccess), string(document.StatusPartial), string(document.StatusFailed), state.RunRunning, state.RunCrashed,
}

// runFilter says which runs the flags of a command ask for.
func runFilter(c *cli.Context) (func(state.RunInfo) bool, error) {
	status, agent, repo := c.String("status"), c.String("agent"), c.String("repo")
	if status != "" && !slices.Contains(runStatuses, status) {
		return nil, &document.InputError{Message: "--status must be one of " + strings.Join(runStatuses, ", ")}
	}
	if repo != "" {
		path, err := filepath.Abs(repo)
		if err == nil {
			path, err = filepath.EvalSymlinks(path)
		}
		if err != nil {
			return nil, &document.InputError{Message: "--repo: " + fileReason(err)}
		}
		repo = path
	}
	return func(r state.RunInfo) bool {
		return (status == "" || r.Status == status) && (agent == "" || r.Agent == agent) && (repo == "" || sameDir(r.RepoRoot, repo))
	}, nil
}

// sameDir compares the directory of a run, which may contain symbolic links or be gone, with one that has none.
func sameDir(of, dir string) bool {
	if resolved, err := filepath.EvalSymlinks(of); err == nil {
		of = resolved
	}
	return of == dir
}

func (p *program) runsList(c *cli.Context) error {
	keep, err := runFilter(c)
	if err != nil {
		return err
	}
	st, err := p.state()
	if err != nil {
		return err
	}
	list, err := st.ListOf(max(0, c.Int("limit")), keep)
	if err != nil {
		return err
	}
	if c.Bool(jsonFlag.Name) {
		return p.printJSON(list)
	}
	now := time.Now()
	term := render.TerminalOf(p.stdout, p.getenv)
	rows := [][]string{}
	for _, r := range list {
		id, repo := r.RunID, r.RepoRoot
		if term.IsTTY {
			id, repo = st.ShortID(id), filepath.Base(repo)
		}
		rows = append(rows, []string{id, r.Status, age(now.Sub(r.StartedAt)), r.Agent, repo, r.TaskID, r.Branch, render.Fit(r.Objective, 60), render.Fit(r.Summary, 60)})
	}
	header := []string{"RUN", "STATUS", "AGE", "AGENT", "REPOSITORY", "TASK", "BRANCH", "OBJECTIVE", "SUMMARY"}
	if term.IsTTY { // the branch has the name of the task
		header = slices.Delete(header, 5, 7)
		for i := range rows {
			rows[i] = slices.Delete(rows[i], 5, 7)
		}
	}
	return render.TableFor(p.stdout, term, header, rows)
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
