package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/cmd/sandboxrun/usage"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
	"sandboxrun/sandbox"
)

func (p *program) planCommand() *cli.Command {
	return &cli.Command{
		Name:      "plan",
		Usage:     "print what a task compiles to, without running anything",
		ArgsUsage: "TASK.json|-",
		Description: `Reads a task like "execute" does, with the same flags, and prints the plan: pure
data made from the task, the configuration and the flags. No engine is called and
no repository is opened. On a terminal a summary takes the place of the document,
unless --json is given: above all what each sentence is measured by, and which
words nothing measures. With --strict such a task is refused.

Examples:
   sandboxrun plan task.json
   sandboxrun plan --json --strict task.json
   sandboxrun plan --require-tier runsc task.json
   sandboxrun plan --agent claude --land none task.json`,
		Flags: append(p.overrideFlags(), repoFlag, &cli.BoolFlag{Name: "json", Usage: "print the document also on a terminal"}),
		Action: func(c *cli.Context) error {
			plan, err := p.compile(c)
			if err != nil {
				return err
			}
			if term := render.TerminalOf(p.stdout, p.getenv); term.IsTTY && !c.Bool("json") {
				return render.WritePlan(p.stdout, term, plan)
			}
			return p.printJSON(plan)
		},
	}
}

// maxTaskRead bounds how much of a task is read, in bytes. It is more than a task may have, so that the decoder
// refuses a longer one rather than seeing half of it.
const maxTaskRead = 8 << 20

// overrideFlags are the flags that override a task; execute and plan share them.
func (p *program) overrideFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "agent", Usage: "`NAME` of the agent"},
		&cli.StringFlag{Name: "variant", Usage: "variant of the agent's profile"},
		&cli.StringFlag{Name: "model", Usage: "model the agent uses"},
		&cli.StringFlag{Name: "base", Usage: "git `REVISION` to start from"},
		&cli.StringFlag{Name: "session", Usage: "`ID` of the session to begin or to continue"},
		&cli.StringFlag{Name: "retry", Usage: "return to the state before this `RUN` of the session"},
		&cli.BoolFlag{Name: "force-when-dirty", Usage: "return also while the repository has uncommitted changes"},
		&cli.StringFlag{Name: "land", Usage: "where the change lands: branch or none"},
		&cli.StringFlag{Name: "image", Usage: "image of the box"},
		&cli.StringFlag{Name: "runtime", Usage: "OCI runtime of the box, by its name in the engine"},
		requireTierFlag,
		&cli.StringSliceFlag{Name: "allow-host", Usage: "`HOST` that setup commands may reach (repeatable)"},
		&cli.BoolFlag{Name: "strict", Usage: "refuse sentences of constraints and acceptance_criteria that nothing measures"},
		&cli.StringFlag{Name: "approve", Usage: "answer to the agent's tool calls: auto, ask (at this terminal, or by \"sandboxrun approvals\") or deny"},
	}
}

// compile reads the task named by the only argument and makes a plan of it.
func (p *program) compile(c *cli.Context) (*plan.Plan, error) {
	data, dir, repo, err := p.taskOf(c)
	if err != nil {
		return nil, err
	}
	return p.compileTask(c, data, dir, repo)
}

// taskOf reads the task named by the only argument, with the directory its repo_root may be relative to and the
// repository that takes its place; "" for none.
func (p *program) taskOf(c *cli.Context) (data []byte, dir, repo string, err error) {
	name, err := oneArgument(c, c.Command.ArgsUsage)
	if err != nil {
		return nil, "", "", err
	}
	if data, err = p.readTask(name); err != nil {
		return nil, "", "", err
	}
	if name != "-" {
		if dir, err = filepath.Abs(filepath.Dir(name)); err != nil {
			return nil, "", "", fmt.Errorf("find the directory of the task: %w", err)
		}
	}
	if repo = c.String(repoFlag.Name); repo != "" {
		if repo, err = filepath.Abs(repo); err != nil {
			return nil, "", "", fmt.Errorf("find the repository: %w", err)
		}
	}
	return data, dir, repo, nil
}

// compileTask makes a plan of a task, whose repo_root may be relative to dir; repo takes its place when it is not "".
func (p *program) compileTask(c *cli.Context, data []byte, dir, repo string) (*plan.Plan, error) {
	task, err := document.DecodeFrom(data, dir, repo)
	if err != nil {
		return nil, err
	}
	cfg, err := p.config()
	if err != nil {
		return nil, err
	}
	made, err := plan.Compile(task, cfg, overrides(c))
	if err == nil && !c.Bool("quiet") {
		p.askAbout(made)
	}
	return made, usage.InFlags(c, err)
}

// overrides are the decisions of the flags.
func overrides(c *cli.Context) plan.Overrides {
	return plan.Overrides{
		Agent: c.String("agent"), Variant: c.String("variant"), Model: c.String("model"),
		Base: c.String("base"), Session: c.String("session"), Retry: c.String("retry"), ForceWhenDirty: c.Bool("force-when-dirty"),
		Land: document.Land(c.String("land")), Image: c.String("image"), Runtime: c.String("runtime"), RequireTier: sandbox.Tier(c.String(requireTierFlag.Name)),
		AllowHosts: c.StringSlice("allow-host"), Approve: document.Approval(c.String("approve")),
		Strict: c.Bool("strict"),
	}
}

// askAbout names criteria that were probably meant to be run.
func (p *program) askAbout(made *plan.Plan) {
	for i, c := range made.Criteria {
		if c.LooksLikeCommand() && len(made.ReadingOfCriterion(i).Checks) == 0 {
			p.notef("/acceptance_criteria/%d is a sentence, which nothing runs; is {\"command\": %q} meant?", i, c.Text)
		}
	}
}

// repoFlag replaces the repository of a task.
var repoFlag = &cli.StringFlag{Name: "repo", Usage: "`DIR` of the repository, instead of the task's repo_root"}

// readTask reads a task document, "-" for standard input.
func (p *program) readTask(name string) ([]byte, error) {
	in := p.stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, &document.InputError{Message: "read task: " + fileReason(err), Hint: "name a file that holds one task, or - for standard input"}
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxTaskRead))
	if err != nil {
		return nil, &document.InputError{Message: "read task: " + fileReason(err)}
	}
	return data, nil
}

// fileReason describes the error of a file without the name of a system call.
func fileReason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Sprintf("%s: %v", pe.Path, pe.Err)
	}
	return err.Error()
}

// requireTierFlag requires a tier; execute, plan and doctor share it.
var requireTierFlag = &cli.StringFlag{Name: "require-tier", Usage: "refuse boxes below this `TIER`: runc, userns (users remapped) or runsc (gVisor)"}

// requiredTier combines the tiers required by the flag and by the configuration.
func requiredTier(c *cli.Context, configured sandbox.Tier) (sandbox.Tier, error) {
	asked := sandbox.Tier(c.String(requireTierFlag.Name))
	if asked != "" && !asked.Valid() {
		return "", &document.InputError{Message: fmt.Sprintf("--require-tier must be one of %v", sandbox.Tiers())}
	}
	return sandbox.HighestTier(configured, asked), nil
}
