package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"sandboxrun/agents"
	"sandboxrun/gitdiff/workspace"
	"sandboxrun/runner/box"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/record"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/egress"
)

// probeBound is how long one agent's handshake may take, its box included.
const probeBound = 90 * time.Second

// ProbeError says that an agent's program in the image did not answer as it
// should.
type ProbeError struct {
	Agent string
	Err   error
}

func (e *ProbeError) Error() string { return fmt.Sprintf("probe %s: %v", e.Agent, e.Err) }

// Unwrap returns what went wrong.
func (e *ProbeError) Unwrap() error { return e.Err }

// Probe makes the handshake with an agent's program in a box without a tree and
// without any way out, and returns the version it reports. A *ProbeError is
// about the program, any other error about the box. Nothing is left behind.
func (r *Runner) Probe(ctx context.Context, name string) (version string, err error) {
	a, ok := agents.Lookup(name)
	if !ok {
		return "", &document.InputError{Message: document.AgentProblem(name), Hint: "sandboxrun agents list"}
	}
	prober, ok := a.(agents.Prober)
	if !ok {
		return "", &ProbeError{Agent: name, Err: errors.New("this agent cannot be probed")}
	}
	err = r.inEmptyBox(ctx, probePlan(r.o.Config), func(ctx context.Context, b *box.Box, token string) error {
		info := a.Info()
		version, err = prober.Probe(ctx, b, agents.Turn{
			Wire: info.Wires[0], BaseURL: egress.BrokerURL(info.Providers[0]), Token: token, SessionID: uuid.NewString(), Dial: b.Gate.Dial,
		})
		if err != nil {
			return &ProbeError{Agent: name, Err: err}
		}
		return nil
	})
	return version, err
}

// inEmptyBox calls do with a box that has an empty tree and no way out. Nothing of it is left afterwards.
func (r *Runner) inEmptyBox(ctx context.Context, p *plan.Plan, do func(context.Context, *box.Box, string) error) (err error) {
	engine, err := r.o.Engine.Info(ctx)
	if err != nil {
		return err
	}
	if err := checkTier(engine, p.Box); err != nil {
		return err
	}
	owner, err := box.TreeUser(engine)
	if err != nil {
		return err
	}
	guest, err := r.pinGuest()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, guest.Release()) }()
	dir, err := r.o.State.NewRun()
	if err != nil {
		return err
	}
	journal, err := dir.Journal()
	if err != nil {
		return errors.Join(err, dir.Discard())
	}
	log := record.NewLog(journal, nil)
	bs := box.Boxes{Config: r.boxConfig(p, engine, dir.ID(), guest)}
	bs.Token, bs.Log = egress.NewToken(), log
	defer func() {
		err = errors.Join(err, log.Close())
		if !bs.Left() {
			err = errors.Join(err, r.o.State.RemoveTrees(dir.ID()), dir.Discard())
		}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, probeBound, fmt.Errorf("no answer within %s", probeBound))
	defer cancel()
	tree := r.o.State.TreeDir(dir.ID(), "probe")
	if err := errors.Join(os.MkdirAll(tree, 0o700), os.Lchown(tree, owner.UID, owner.GID)); err != nil {
		return fmt.Errorf("probe: make tree: %w", err)
	}
	b, err := bs.Open(ctx, "probe", workspace.Mount{Dir: tree}, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Discard(ctx)) }()
	return do(ctx, b, bs.Token)
}

// probePlan is the box of a probe: the user's own, with nothing to reach.
func probePlan(c config.Config) *plan.Plan {
	p := plan.BoxesOf(c.Box, c.Limits, map[string]string{})
	p.SetupAllow = []string{}
	return &plan.Plan{Box: p}
}

// The exit codes with which a shell, or an engine without one, says that there is no such program.
var missingCodes = []int{1, 126, 127}

// checkProgram refuses an image without the program of the agent, before anything of a run exists. Images made by this
// program say what they hold; into others it looks once.
func (r *Runner) checkProgram(ctx context.Context, rd *ready, p *plan.Plan, image sandbox.ImageInfo) error {
	info := rd.agent.Info()
	switch {
	case r.o.AgentLabel != "" && image.Labels[r.o.AgentLabel+info.Name] != "":
		return nil
	case strings.Contains(info.Binary, "/"), info.Package == "" && len(p.Setup) > 0:
		return nil // the tree or the set-up may bring it
	}
	holds, known := r.o.State.Program(image.ID, info.Binary)
	if !known {
		var err error
		if holds, known, err = r.lookForProgram(ctx, p, info.Binary); err != nil {
			return fmt.Errorf("look for %s in image %s: %w", info.Binary, p.Box.Image, err)
		}
		if known {
			if err := r.o.State.SetProgram(image.ID, info.Binary, holds); err != nil {
				return fmt.Errorf("remember the programs of image %s: %w", p.Box.Image, err)
			}
		}
	}
	if holds || !known {
		return nil
	}
	return &document.InputError{
		Message: "the image lacks the program of the agent",
		Details: []document.Detail{{Path: "/box/image", Message: fmt.Sprintf("%s has no program %q, which agent %s needs", p.Box.Image, info.Binary, info.Name)}},
		Hint: `"sandboxrun image list" shows images with agents; an image of your own begins with FROM sandboxrun/agent, or installs ` +
			cmp.Or(info.Package, info.Binary),
	}
}

// lookForProgram looks whether the image of a plan has a program on its PATH. known is false when it could not tell.
func (r *Runner) lookForProgram(ctx context.Context, p *plan.Plan, name string) (holds, known bool, err error) {
	look := &plan.Plan{Box: p.Box}
	look.Box.SetupAllow = []string{}
	look.Box.Env = map[string]string{}
	err = r.inEmptyBox(ctx, look, func(ctx context.Context, b *box.Box, _ string) error {
		exit, err := b.Exec(ctx, sandbox.Command{Argv: []string{"sh", "-c", `command -v "$1"`, "sh", name}, Stdout: io.Discard, Stderr: io.Discard})
		holds, known = err == nil && exit.Code == 0, err == nil && (exit.Code == 0 || slices.Contains(missingCodes, exit.Code))
		return err
	})
	return holds, known, err
}
