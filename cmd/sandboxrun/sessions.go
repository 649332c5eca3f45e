package main

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/runner/document"
	"sandboxrun/runner/state"
)

func (p *program) sessionsCommand() *cli.Command {
	return &cli.Command{
		Name:  "sessions",
		Usage: "list and show sessions: list, show, rm",
		Description: `A session is one conversation with an agent over several runs. The first run with a
"session_id" (or --session) begins it; each later one gets a new box, the agent's
own conversation so far, and the files of the previous run.`,
		Subcommands: []*cli.Command{p.sessionsListCommand(), p.sessionsShowCommand(), p.sessionsRmCommand()},
	}
}

func (p *program) sessionsListCommand() *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "list sessions, the last used first",
		Description: `Examples:
   sandboxrun sessions list
   sandboxrun sessions list --json`,
		Flags:  []cli.Flag{jsonFlag},
		Action: p.sessionsList,
	}
}

func (p *program) sessionsList(c *cli.Context) error {
	st, err := p.state()
	if err != nil {
		return err
	}
	list, err := st.Sessions()
	if err != nil {
		return err
	}
	if c.Bool(jsonFlag.Name) {
		return p.printJSON(list)
	}
	now := time.Now()
	rows := [][]string{}
	for _, s := range list {
		updated := "-"
		if !s.UpdatedAt.IsZero() {
			updated = age(now.Sub(s.UpdatedAt))
		}
		rows = append(rows, []string{s.ID, cmp.Or(s.Agent, "-"), strconv.Itoa(s.Runs), cmp.Or(s.Status, "-"), updated, s.RepoRoot})
	}
	return render.Table(p.stdout, []string{"SESSION", "AGENT", "RUNS", "LAST", "AGE", "REPOSITORY"}, rows)
}

// shownTree is how much of a tree's id a table shows.
const shownTree = 12

func (p *program) sessionsShowCommand() *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "show the runs of a session",
		ArgsUsage: "SESSION",
		Description: `Lists the runs of the session's line, the oldest first, with the tree each left.
It omits runs that a retry replaced; "sandboxrun runs" still has them.

Examples:
   sandboxrun sessions show SESSION
   sandboxrun sessions show --json SESSION`,
		Flags:  []cli.Flag{jsonFlag},
		Action: p.sessionsShow,
	}
}

func (p *program) sessionsShow(c *cli.Context) error {
	id, err := oneArgument(c, "SESSION")
	if err != nil {
		return err
	}
	st, err := p.state()
	if err != nil {
		return err
	}
	s, err := st.Session(id)
	if err != nil {
		return err
	}
	if c.Bool(jsonFlag.Name) {
		return p.printJSON(s)
	}
	busy := ""
	if s.Busy {
		busy = "  a run is active"
	}
	if _, err := fmt.Fprintf(p.stdout, "session %s  agent %s%s\n%s\n\n", render.Printable(s.ID), render.Printable(s.Agent), busy, render.Printable(s.RepoRoot)); err != nil {
		return err
	}
	rows := [][]string{}
	for _, r := range s.Runs {
		talk := "yes"
		if !r.Kept {
			talk = "no"
		}
		rows = append(rows, []string{r.RunID, string(r.Status), r.End.Tree[:min(shownTree, len(r.End.Tree))], talk, cmp.Or(r.Branch, "-"), render.Fit(render.Printable(r.Claim), 60)})
	}
	return render.Table(p.stdout, []string{"RUN", "STATUS", "TREE", "REMEMBERED", "BRANCH", "CLAIM"}, rows)
}

func (p *program) sessionsRmCommand() *cli.Command {
	return &cli.Command{
		Name:      "rm",
		Usage:     "remove sessions",
		ArgsUsage: "SESSION…",
		Description: `Removes the sessions and their kept conversations. Their runs and the branches these
landed stay. A session with an active run is refused.

Examples:
   sandboxrun sessions rm SESSION`,
		Flags:  []cli.Flag{jsonFlag},
		Action: p.sessionsRm,
	}
}

func (p *program) sessionsRm(c *cli.Context) error {
	return p.rm(c, "SESSION", "sessions", func(st *state.State, id string) (removal, error) {
		_, err := st.Session(id)
		if unknown := (*document.InputError)(nil); errors.As(err, &unknown) {
			return removal{}, err
		}
		// A damaged one can be removed as well.
		return removal{id: id, remove: func() error { return st.RemoveSession(c.Context, id) }}, nil
	})
}
