package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"

	"sandboxrun/agents"
	"sandboxrun/gitdiff/workspace"
	"sandboxrun/runner/box"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/record"
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
	plan := probePlan(r.o.Config)
	engine, err := r.o.Engine.Info(ctx)
	if err != nil {
		return "", err
	}
	if err := checkTier(engine, plan.Box); err != nil {
		return "", err
	}
	owner, err := box.TreeUser(engine)
	if err != nil {
		return "", err
	}
	guest, err := r.pinGuest()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, guest.Release()) }()
	dir, err := r.o.State.NewRun()
	if err != nil {
		return "", err
	}
	journal, err := dir.Journal()
	if err != nil {
		return "", errors.Join(err, dir.Discard())
	}
	log := record.NewLog(journal, nil)
	bs := box.Boxes{Config: r.boxConfig(plan, engine, dir.ID(), guest)}
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
		return "", fmt.Errorf("probe %s: make tree: %w", name, err)
	}
	b, err := bs.Open(ctx, "probe", workspace.Mount{Dir: tree}, nil)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, b.Discard(ctx)) }()
	info := a.Info()
	version, err = prober.Probe(ctx, b, agents.Turn{
		Wire: info.Wires[0], BaseURL: egress.BrokerURL(info.Providers[0]), Token: bs.Token, SessionID: uuid.NewString(), Dial: b.Gate.Dial,
	})
	if err != nil {
		return "", &ProbeError{Agent: name, Err: err}
	}
	return version, nil
}

// probePlan is the box of a probe: the user's own, with nothing to reach.
func probePlan(c config.Config) *plan.Plan {
	p := plan.BoxesOf(c.Box, c.Limits, map[string]string{})
	p.SetupAllow = []string{}
	return &plan.Plan{Box: p}
}
