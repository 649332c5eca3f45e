package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/demo"
	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/runner"
	"sandboxrun/runner/document"
)

func (p *program) demoCommand() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "let an agent fix a small sample repository, and show all results",
		Description: `Makes a git repository with a failing test and lets the default agent fix it in a
box. With a key for the agent's provider the model is real. Without one, an
embedded server on loopback acts as a scripted model; the agent's own program,
the box and everything else are real. The demo prints which model it uses.

The repository, the task and the result stay in DIR, by default a new directory
for temporary files, for you to inspect and delete.

Exit codes are those of "execute".

Examples:
   sandboxrun demo
   sandboxrun demo --scripted
   sandboxrun demo --dir /tmp/sandboxrun-demo`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "dir", Usage: "new or empty `DIR` for the sample"},
			&cli.BoolFlag{Name: "scripted", Usage: "use the scripted model although a key is set"},
			&cli.StringFlag{Name: "runtime", Usage: "OCI runtime of the box, by its name in the engine"},
			&cli.BoolFlag{Name: "quiet", Usage: "print no progress on standard error"},
		},
		Action: p.demo,
	}
}

func (p *program) demo(c *cli.Context) error {
	cfg, err := p.config()
	if err != nil {
		return err
	}
	model, err := demo.ChooseModel(cfg, p.getenv, c.Bool("scripted"))
	if err != nil {
		return err
	}
	defer model.Close()
	fmt.Fprintln(p.stdout, render.Printable(model.Says))
	s, err := demo.NewSample(c.Context, c.String("dir"))
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "Repository: %s\nTask:       %s\n", render.Printable(s.Repo), render.Printable(s.Task))
	plan, err := s.Plan(model.Config, c.String("runtime"))
	if err != nil {
		return err
	}
	e := &execution{p: p, quiet: c.Bool("quiet"), with: func() (*runner.Runner, func(), error) {
		return p.runnerWith(model.Config, model.Getenv, true)
	}}
	res, cause, err := e.run(c.Context, plan)
	if err != nil {
		return err
	}
	if err := s.Keep(res); err != nil {
		return err
	}
	if err := p.showDemo(c.Context, s, res); err != nil {
		return err
	}
	return exitError(document.ExitCode(res, cause))
}

// showDemo prints the result of the task and where everything is.
func (p *program) showDemo(ctx context.Context, s *demo.Sample, res *document.Result) error {
	fmt.Fprintln(p.stdout)
	if err := render.WriteReport(p.stdout, render.TerminalOf(p.stdout, p.getenv), res); err != nil {
		return err
	}
	if res.Git.Patch != "" {
		fmt.Fprintln(p.stdout, "\nThe diff:")
		if err := p.printPatch(ctx, res.Git.Patch); err != nil {
			return err
		}
	}
	if res.Git.Branch != "" {
		history, err := demo.Git(ctx, s.Repo, "log", "--oneline", "--decorate", "--all")
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "\nThe repository's history (its own branch did not move):\n%s", history)
	}
	_, err := fmt.Fprintf(p.stdout, `
Result document: %s
Go on with:
  sandboxrun runs show %s
  sandboxrun runs logs %s
  sandboxrun apply %s          # bring the change into %s
  sandboxrun execute YOUR-TASK.json
`, s.Result, res.RunID, res.RunID, res.RunID, s.Repo)
	return err
}
