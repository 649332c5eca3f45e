package main

import (
	"cmp"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"
)

func (p *program) sessionsListCommand() *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "list sessions, the one used last first",
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
	return table(p.stdout, []string{"SESSION", "AGENT", "RUNS", "LAST", "AGE", "REPOSITORY"}, rows)
}
