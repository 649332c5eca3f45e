package main

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"
)

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
		rows = append(rows, []string{r.RunID, r.TaskID, r.Status, age(now.Sub(r.StartedAt)), r.Branch, fit(r.Summary, 60)})
	}
	return table(p.stdout, []string{"RUN", "TASK", "STATUS", "AGE", "BRANCH", "SUMMARY"}, rows)
}

// age writes how long ago something was in its largest unit.
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
