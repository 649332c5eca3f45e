package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/runner"
	"sandboxrun/runner/document"
)

var refusedFlag = &cli.StringSliceFlag{
	Name: "refused", Usage: "apply the change in spite of refusals with this `CODE`, or \"all\" of them; may be repeated",
}

func (p *program) applyCommand() *cli.Command {
	return &cli.Command{
		Name:      "apply",
		Usage:     "bring the change of a run into the working tree of its repository",
		ArgsUsage: "RUN",
		Description: `Writes what the run changed into the files of its repository, without staging or
committing anything. It refuses, before touching a file, when a file it would
change differs from the run's base, when its path contains a symbolic link or a
git directory, when the run began from a state that neither HEAD nor the working
tree has, and when the run's result refuses the change (git.refused). Status and
problems of the run are printed first. Symbolic links that point outside the
tree are never written.

--session brings everything that the session of the run has changed up to it.
--three-way merges lines, as git does, where the working tree has changed a file as
well; a file in which both changes touch the same lines is refused, and then nothing
is written.

Examples:
   sandboxrun apply RUN
   sandboxrun apply --session last
   sandboxrun apply --three-way RUN
   sandboxrun apply --refused constraint_violated RUN`,
		Flags: []cli.Flag{
			jsonFlag, refusedFlag,
			&cli.BoolFlag{Name: "session", Usage: "bring what the runs before it in its session changed as well"},
			&cli.BoolFlag{Name: "three-way", Usage: "merge lines where the working tree has changed a file as well"},
		},
		Action: func(c *cli.Context) error {
			dir, err := p.findRun(c)
			if err != nil {
				return err
			}
			id := dir.ID()
			return p.withRunner(c, func(ctx context.Context, r *runner.Runner) error {
				report, err := r.Apply(ctx, id, runner.ApplyOptions{
					Override: c.StringSlice(refusedFlag.Name), Session: c.Bool("session"), ThreeWay: c.Bool("three-way"), Before: p.warn, Show: p.introduce,
				})
				if err != nil {
					return err
				}
				if c.Bool(jsonFlag.Name) {
					return p.printJSON(report)
				}
				for _, f := range report.Files {
					line := render.Printable(f)
					if slices.Contains(report.Merged, f) {
						line += "  (merged with your changes)"
					}
					fmt.Fprintln(p.stdout, line)
				}
				for _, f := range report.LeftOut {
					fmt.Fprintf(p.stdout, "not written, because it points outside the tree: %s\n", render.Printable(f))
				}
				what := "run " + report.Run
				if len(report.Runs) > 1 {
					what = fmt.Sprintf("%d runs of a session, up to %s", len(report.Runs), report.Run)
				}
				_, err = fmt.Fprintf(p.stdout, "applied %s: %d files\n", render.Printable(what), len(report.Files))
				return err
			})
		},
	}
}

// introduce prints what came of a run that is about to be applied.
func (p *program) introduce(res *document.Result) {
	fmt.Fprintf(p.stderr, "run %s: %s: %s\n", res.RunID, res.Status, render.Printable(res.Summary))
}

// warn prints the problems of a change that is about to be applied.
func (p *program) warn(refused []document.Refusal, issues []document.Issue) {
	for _, r := range refused {
		fmt.Fprintf(p.stderr, "refused by the run, and applied nevertheless: %s: %s\n", r.Code, render.Printable(r.Description))
	}
	for _, i := range issues {
		fmt.Fprintf(p.stderr, "issue of the run: %s: %s\n", i.Code, render.Printable(strings.TrimSpace(i.Path+" "+i.Description)))
	}
}
