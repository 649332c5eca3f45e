package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"sandboxrun/runner"
)

// checkBound is how long one check of doctor may take.
const checkBound = 60 * time.Second

// level is how a check ended.
type level string

const (
	levelPass    level = "PASS"
	levelCaution level = "CAUTION" // works, and something about it should be known
	levelFail    level = "FAIL"    // tasks cannot run
)

// finding is the answer of one check.
type finding struct {
	Name    string `json:"name"`
	Level   level  `json:"level"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func pass(format string, args ...any) finding {
	return finding{Level: levelPass, Message: fmt.Sprintf(format, args...)}
}

func caution(hint, format string, args ...any) finding {
	return finding{Level: levelCaution, Message: fmt.Sprintf(format, args...), Hint: hint}
}

func fail(hint, format string, args ...any) finding {
	return finding{Level: levelFail, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// check is one thing doctor looks at. Checks that need the engine are left out
// when it does not answer: one FAIL says so already.
type check struct {
	name   string
	engine bool
	run    func(context.Context, *examination) finding
}

// checks is everything doctor looks at, in the order it is told.
var checks = []check{
	{"program", false, checkProgram},
	{"configuration", false, checkConfiguration},
	{"state directory", false, checkState},
	{"disk space", false, checkDisk},
	{"crashed runs", false, checkCrashed},
	{"engine", false, checkEngine},
	{"engine API", true, checkAPI},
	{"engine platform", true, checkPlatform},
	{"engine socket", true, checkSocket},
	{"engine components", true, checkComponents},
	{"cgroups", true, checkCgroups},
	{"seccomp", true, checkSeccomp},
	{"user namespaces", true, checkUserNamespaces},
	{"security modules", true, checkSecurityModules},
	{"sandbox runtime", true, checkRuntimes},
	{"isolation tier", true, checkTier},
	{"storage", true, checkStorage},
	{"restarts", true, checkRestarts},
	{"agent image", true, checkImage},
	{"workspace", true, checkWorkspace},
	{"keys", false, checkKeys},
	{"certificates", false, checkCertificates},
}

// diagnosis is the document that doctor --json prints.
type diagnosis struct {
	OK     bool      `json:"ok"` // no check failed
	Checks []finding `json:"checks"`
}

func (p *program) doctorCommand() *cli.Command {
	return &cli.Command{
		Name:  "doctor",
		Usage: "look at this machine and say what works, what to know, and what to do",
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
			&cli.BoolFlag{Name: "self-test", Usage: "attack this machine from inside of boxes, and say what held"},
		},
		Action: func(c *cli.Context) error {
			ctx, stop := p.interruptible(c.Context, nil)
			defer stop()
			x := p.examine()
			defer x.close()
			required, err := requiredTier(c, x.config.Box.RequireTier)
			if err != nil {
				return err
			}
			x.config.Box.RequireTier = required
			d := diagnose(ctx, x)
			if c.Bool("self-test") {
				d.add(p.selfTest(ctx, x)...)
			}
			if err := context.Cause(ctx); err != nil {
				return err
			}
			if err := p.printDiagnosis(d, c.Bool(jsonFlag.Name)); err != nil {
				return err
			}
			if !d.OK {
				return exitError(runner.ExitBridge)
			}
			return nil
		},
	}
}

// diagnose runs every check under its bound.
func diagnose(ctx context.Context, x *examination) diagnosis {
	d := diagnosis{OK: true, Checks: []finding{}}
	for _, c := range checks {
		if c.engine && x.engineErr(ctx) != nil || ctx.Err() != nil {
			continue
		}
		cctx, cancel := context.WithTimeoutCause(ctx, checkBound, fmt.Errorf("no answer within %s", checkBound))
		f := c.run(cctx, x)
		cancel()
		f.Name = c.name
		d.add(f)
	}
	return d
}

// add takes down how checks ended.
func (d *diagnosis) add(found ...finding) {
	for _, f := range found {
		d.Checks = append(d.Checks, f)
		d.OK = d.OK && f.Level != levelFail
	}
}

func (p *program) printDiagnosis(d diagnosis, asJSON bool) error {
	if asJSON {
		return p.printJSON(d)
	}
	term := terminalOf(p.stdout, p.getenv)
	colors := map[level]string{levelPass: colorGood, levelCaution: colorWarn, levelFail: colorBad}
	var b strings.Builder
	for _, f := range d.Checks {
		fmt.Fprintf(&b, "%s  %-18s %s\n", term.paint(colors[f.Level], fmt.Sprintf("%-7s", f.Level)), f.Name, printable(f.Message))
		if f.Hint != "" {
			fmt.Fprintf(&b, "%28s%s\n", "", term.paint(colorDim, "→ "+printable(f.Hint)))
		}
	}
	_, err := fmt.Fprint(p.stdout, b.String())
	return err
}
