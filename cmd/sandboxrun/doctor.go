package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/doctor"
	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/cmd/sandboxrun/selftest"
	"sandboxrun/runner/document"
)

func (p *program) doctorCommand() *cli.Command {
	return &cli.Command{
		Name:  "doctor",
		Usage: "check this machine and report what works, what to know, and what to do",
		Description: `Every check ends as PASS, CAUTION (works, with something to know) or FAIL (tasks
cannot run), with a hint where a person can do something. Keys are never printed.
With the agent image present, doctor opens one small box to see how the engine
mounts a workspace, and removes it.

--self-test also attacks this machine: a dozen hostile programs run in boxes, as
tasks on a repository and with a state directory of their own that are removed
afterwards, and each line says whether the box held. It takes half a minute.

--require-tier fails where boxes would be less isolated than that, as "execute"
with the same flag does.

Exit codes: 0 without a FAIL, otherwise 5.

Examples:
   sandboxrun doctor
   sandboxrun doctor --json
   sandboxrun doctor --self-test
   sandboxrun doctor --require-tier runsc`,
		Flags: []cli.Flag{
			jsonFlag, requireTierFlag,
			&cli.BoolFlag{Name: "self-test", Usage: "attack this machine from inside boxes, and report what held"},
		},
		Action: func(c *cli.Context) error {
			ctx, stop := p.interruptible(c.Context, nil)
			defer stop()
			x := p.examine()
			defer x.Close()
			required, err := requiredTier(c, x.Config.Box.RequireTier)
			if err != nil {
				return err
			}
			x.Config.Box.RequireTier = required
			d := doctor.Diagnose(ctx, x)
			if c.Bool("self-test") {
				d.Add(selftest.Run(ctx, x)...)
			}
			if err := context.Cause(ctx); err != nil {
				return err
			}
			if err := p.printDiagnosis(d, c.Bool(jsonFlag.Name)); err != nil {
				return err
			}
			if !d.OK {
				return exitError(document.ExitBridge)
			}
			return nil
		},
	}
}

// examine prepares an examination of this machine.
func (p *program) examine() *doctor.Examination {
	x := &doctor.Examination{Version: buildVersion().Version, Getenv: p.getenv, Open: func() (doctor.Engine, error) { return p.engine() }}
	x.Config, x.ConfigErr = p.config()
	x.State, x.StateErr = p.state()
	return x
}

func (p *program) printDiagnosis(d doctor.Diagnosis, asJSON bool) error {
	if asJSON {
		return p.printJSON(d)
	}
	term := render.TerminalOf(p.stdout, p.getenv)
	colors := map[doctor.Level]string{doctor.LevelPass: render.ColorGood, doctor.LevelCaution: render.ColorWarn, doctor.LevelFail: render.ColorBad}
	var b strings.Builder
	for _, f := range d.Checks {
		fmt.Fprintf(&b, "%s  %-18s %s\n", term.Paint(colors[f.Level], fmt.Sprintf("%-7s", f.Level)), f.Name, render.Printable(f.Message))
		if f.Hint != "" {
			fmt.Fprintf(&b, "%28s%s\n", "", term.Paint(render.ColorDim, "→ "+render.Printable(f.Hint)))
		}
	}
	_, err := fmt.Fprint(p.stdout, b.String())
	return err
}
