package main

import (
	"cmp"
	"fmt"

	"github.com/urfave/cli/v2"
)

// shownTree is how much of a tree's id a table shows.
const shownTree = 12

func (p *program) sessionsShowCommand() *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "show the runs of a session",
		ArgsUsage: "SESSION",
		Description: `Lists the runs of the session's line, the oldest first, with the tree each left.
Runs that a retry went back before are not in it; "sandboxrun runs" still has them.

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
		busy = "  a run is under way"
	}
	if _, err := fmt.Fprintf(p.stdout, "session %s  agent %s%s\n%s\n\n", printable(s.ID), printable(s.Agent), busy, printable(s.RepoRoot)); err != nil {
		return err
	}
	rows := [][]string{}
	for _, r := range s.Runs {
		talk := "yes"
		if !r.Kept {
			talk = "no"
		}
		rows = append(rows, []string{r.RunID, string(r.Status), r.End.Tree[:min(shownTree, len(r.End.Tree))], talk, cmp.Or(r.Branch, "-"), fit(printable(r.Claim), 60)})
	}
	return table(p.stdout, []string{"RUN", "STATUS", "TREE", "REMEMBERED", "BRANCH", "CLAIM"}, rows)
}
