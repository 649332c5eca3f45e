package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/runner"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/state"
)

func (p *program) reapCommand() *cli.Command {
	return &cli.Command{
		Name:  "reap",
		Usage: "remove what crashed runs left behind",
		Description: `Removes boxes, volumes and trees that belong to no live run of this state
directory, and writes the result of every run whose runner died. "execute" does
the same when it finds a crashed run.

Examples:
   sandboxrun reap
   sandboxrun reap --json`,
		Flags: []cli.Flag{jsonFlag},
		Action: func(c *cli.Context) error {
			return p.withRunner(c, func(ctx context.Context, r *runner.Runner) error {
				report, err := r.Reap(ctx)
				if c.Bool(jsonFlag.Name) {
					if perr := p.printJSON(report); err == nil {
						err = perr
					}
					return err
				}
				p.printReap(report)
				return err
			})
		},
	}
}

func (p *program) printReap(r runner.ReapReport) {
	for _, id := range r.Runs {
		fmt.Fprintf(p.stdout, "settled run %s\n", render.Printable(id))
	}
	for _, name := range r.Removed {
		fmt.Fprintf(p.stdout, "removed %s\n", render.Printable(name))
	}
	if len(r.Runs)+len(r.Removed) == 0 {
		fmt.Fprintln(p.stdout, "nothing to remove")
	}
}

// removal is something that "rm" was asked to remove and has found.
type removal struct {
	id     string
	remove func() error
}

// removedView is what sessions rm prints with --json.
type removedView struct {
	Removed []string `json:"removed"`
}

// rm removes what the arguments name: RUN or SESSION, which the commands called list show. All are looked up first, so
// that a typo removes nothing.
func (p *program) rm(c *cli.Context, argument, list string, find func(st *state.State, name string) (removal, error)) error {
	if !c.Args().Present() {
		return &document.InputError{Message: "needs at least one argument " + argument, Hint: "sandboxrun " + list + " list"}
	}
	st, err := p.state()
	if err != nil {
		return err
	}
	var found []removal
	for _, name := range c.Args().Slice() {
		r, err := find(st, name)
		if err != nil {
			return err
		}
		found = append(found, r)
	}
	view := removedView{Removed: []string{}}
	for _, r := range found {
		if err := r.remove(); err != nil {
			return err
		}
		view.Removed = append(view.Removed, r.id)
		if c.Bool(jsonFlag.Name) {
			continue
		}
		if _, err := fmt.Fprintln(p.stdout, "removed", render.Printable(r.id)); err != nil {
			return err
		}
	}
	if c.Bool(jsonFlag.Name) {
		return p.printJSON(view)
	}
	return nil
}

func (p *program) runsRmCommand() *cli.Command {
	return &cli.Command{
		Name:      "rm",
		Usage:     "remove runs that have ended",
		ArgsUsage: "RUN…",
		Description: `Removes everything of these runs from the state directory, or with --all of every
run that has ended. Branches that they landed stay. A running one is refused.

Examples:
   sandboxrun runs rm RUN`,
		Flags:  []cli.Flag{jsonFlag, &cli.BoolFlag{Name: "all", Usage: "every run that has ended"}},
		Action: p.runsRm,
	}
}

func (p *program) runsRm(c *cli.Context) error {
	if c.Bool("all") {
		if c.Args().Present() {
			return &document.InputError{Message: "--all removes every run; name none", Hint: "sandboxrun runs rm RUN removes one"}
		}
		return p.prune(c, time.Now(), 0)
	}
	return p.rm(c, "RUN", "runs", func(st *state.State, name string) (removal, error) {
		dir, err := st.FindNamed(name)
		if err != nil {
			return removal{}, err
		}
		return removal{id: dir.ID(), remove: func() error { return st.Remove(dir) }}, nil
	})
}

func (p *program) runsPruneCommand() *cli.Command {
	return &cli.Command{
		Name:  "prune",
		Usage: "remove old runs that have ended",
		Description: `Removes runs that are older than a time, or not among the newest; with both, only
runs that are both. Branches that they landed stay, and so do runs that go on and
those of a runner that died ("sandboxrun reap" settles them). Checked out bases
that no run has used for 30 days go by themselves.

Examples:
   sandboxrun runs prune --older-than 30d
   sandboxrun runs prune --older-than 12h --keep 20
   sandboxrun runs prune --keep 100 --dry-run`,
		Flags: []cli.Flag{
			jsonFlag,
			&cli.StringFlag{Name: "older-than", Usage: "only runs older than this `TIME`, such as 12h, 30d or 4w"},
			&cli.IntFlag{Name: "keep", Usage: "keep the newest `N` runs"},
			&cli.BoolFlag{Name: "dry-run", Usage: "say what would be removed, and remove nothing"},
		},
		Action: func(c *cli.Context) error {
			if !c.IsSet("older-than") && !c.IsSet("keep") {
				return &document.InputError{Message: "needs --older-than or --keep", Hint: "sandboxrun runs prune --older-than 30d"}
			}
			if c.Int("keep") < 0 {
				return &document.InputError{Message: "--keep must not be negative"}
			}
			before := time.Now()
			if c.IsSet("older-than") {
				least, err := longTime(c.String("older-than"))
				if err != nil {
					return err
				}
				before = before.Add(-least)
			}
			return p.prune(c, before, c.Int("keep"))
		},
	}
}

// prune removes the runs that began before a time and ended, all but the newest ones.
func (p *program) prune(c *cli.Context, before time.Time, keep int) error {
	st, err := p.state()
	if err != nil {
		return err
	}
	list, err := st.List(0)
	if err != nil {
		return err
	}
	view, going := removedView{Removed: []string{}}, 0
	for _, r := range list[min(keep, len(list)):] {
		switch {
		case !r.StartedAt.Before(before):
			continue
		case r.Status == state.RunRunning, r.Status == state.RunCrashed:
			going++
			continue
		}
		if err := context.Cause(c.Context); err != nil {
			return err
		}
		if !c.Bool("dry-run") {
			dir, err := st.Find(r.RunID)
			if err == nil {
				err = st.Remove(dir)
			}
			if err != nil {
				return err
			}
		}
		view.Removed = append(view.Removed, r.RunID)
	}
	if c.Bool(jsonFlag.Name) {
		return p.printJSON(view)
	}
	verb := "removed"
	if c.Bool("dry-run") {
		verb = "would remove"
	}
	_, err = fmt.Fprintf(p.stdout, "%s %s\n", verb, excerpt.Plural(len(view.Removed), "run"))
	if going > 0 {
		p.notef("%s not ended: \"sandboxrun runs list\" shows them", excerpt.Plural(going, "run"))
	}
	return err
}

// longTime reads a duration that may also be in days and weeks.
func longTime(text string) (time.Duration, error) {
	bad := &document.InputError{Message: fmt.Sprintf("--older-than cannot be %q", text), Hint: "write it like 12h, 30d or 4w"}
	unit := 24 * time.Hour
	digits, days := strings.CutSuffix(text, "d")
	if !days {
		unit = 7 * 24 * time.Hour
		digits, days = strings.CutSuffix(text, "w")
	}
	if !days {
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return 0, bad
		}
		return d, nil
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || n > 100_000 {
		return 0, bad
	}
	return time.Duration(n) * unit, nil
}
