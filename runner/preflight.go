package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"sandboxrun/agents"
	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/land"
	"sandboxrun/internal/wire"
	"sandboxrun/runner/box"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/session"
	"sandboxrun/runner/state"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/egress"
)

// ready is what a run starts from, found out without creating anything.
type ready struct {
	repo     *gitdiff.Repo
	base     gitdiff.Commit
	engine   sandbox.Info
	treeUser sandbox.User   // owner of the boxes' trees on the host
	agent    agents.Agent   // nil in command mode
	key      egress.KeyFunc // gives the broker the provider's key, which no box ever sees
	// session is the run's place in its session, whose lock is held; nil without one.
	session *session.Turn
}

// imager is the optional ability of an engine to look at its local images.
type imager interface {
	Image(ctx context.Context, ref string) (sandbox.ImageInfo, error)
}

// preflight checks everything that can be checked by looking: the repository,
// the base, the branch to be, the engine, the image, the agent and its key.
func (r *Runner) preflight(ctx context.Context, p *plan.Plan) (_ *ready, err error) {
	repo, err := gitdiff.Open(p.RepoRoot)
	if err != nil {
		return nil, document.InputAt("/context/repo_root", repoReason(err))
	}
	rd := &ready{repo: repo}
	defer func() {
		if err != nil {
			err = errors.Join(err, rd.session.Leave(), repo.Close())
		}
	}()
	if rd.session, err = session.Continue(ctx, r.o.State, p, repo); err != nil {
		return nil, err
	}
	if rd.session != nil {
		rd.base = rd.session.Start()
	} else if rd.base, err = repo.Resolve(ctx, p.Base); err != nil {
		return nil, document.InputAt("/context/base", err.Error())
	}
	if err := checkBranchRoom(repo, p); err != nil {
		return nil, err
	}
	if p.Agent != nil {
		if err := r.preflightAgent(rd, p.Agent); err != nil {
			return nil, err
		}
	}
	if rd.engine, err = r.o.Engine.Info(ctx); err != nil {
		return nil, err
	}
	if im, ok := r.o.Engine.(imager); ok {
		if _, err := im.Image(ctx, p.Box.Image); err != nil {
			return nil, err
		}
	}
	if err := checkRuntime(rd.engine, p.Box.Runtime); err != nil {
		return nil, err
	}
	if err := checkTier(rd.engine, p.Box); err != nil {
		return nil, err
	}
	if rd.treeUser, err = box.TreeUser(rd.engine); err != nil {
		return nil, err
	}
	if p.Session != "" && rd.session == nil {
		rd.session, err = session.Begin(ctx, r.o.State, p, repo, rd.base)
	}
	return rd, err
}

func (r *Runner) preflightAgent(rd *ready, ap *plan.Agent) error {
	a, ok := agents.Lookup(ap.Name)
	if !ok {
		return document.InputAt("/agent", fmt.Sprintf("no agent is called %q", ap.Name))
	}
	rd.agent = a
	if _, _, err := r.o.Config.ProviderFor([]string{ap.Provider}, []wire.Wire{ap.Wire}); err != nil {
		return document.InputAt("/agent", fmt.Sprintf("agent %s: %v", ap.Name, err))
	}
	key, err := r.o.Config.Key(ap.Provider, r.o.Getenv)
	if err != nil {
		hint := "set the key in the environment variable or file that the configuration names"
		if all := a.Info().Providers; len(all) > 1 {
			hint += fmt.Sprintf(", or name another provider of agent %s (%s)", ap.Name, config.Listed(all))
		}
		return &document.InputError{
			Message: "no key for provider " + ap.Provider,
			Details: []document.Detail{{Path: "/agent", Message: err.Error()}},
			Hint:    hint,
		}
	}
	rd.key = key
	return nil
}

// checkBranchRoom refuses a run whose result could never land, before the work.
func checkBranchRoom(repo *gitdiff.Repo, p *plan.Plan) error {
	if p.Land != document.LandBranch {
		return nil
	}
	var conflict *land.ConflictError
	if err := land.CheckRef(repo, land.BranchPrefix+"x"); errors.As(err, &conflict) {
		return document.InputAt("/land", fmt.Sprintf("branches below %s cannot be created: %v", land.BranchPrefix, err))
	}
	return nil
}

func checkRuntime(engine sandbox.Info, name string) error {
	if name == "" || slices.Contains(engine.Runtimes, name) {
		return nil
	}
	return document.InputAt("/box/runtime", fmt.Sprintf("the engine has no runtime %q (it has %v)", name, engine.Runtimes))
}

func repoReason(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	case errors.Is(err, fs.ErrPermission):
		return "cannot be read by this user"
	}
	return err.Error()
}

// tierHint says how a machine gets a higher tier.
const tierHint = `"--runtime runsc" is tier runsc where gVisor is installed; an engine with userns-remap is tier userns; ` +
	`"sandboxrun doctor" says what this machine has`

// checkTier refuses a run whose boxes would be less isolated than demanded. It
// is an input error: a caller that asks for isolation must not be told that the
// work may be done without any.
func checkTier(engine sandbox.Info, box plan.Boxes) error {
	have, why := engine.Tier(box.Runtime)
	if !have.Below(box.RequireTier) {
		return nil
	}
	return &document.InputError{
		Message: fmt.Sprintf("boxes here are tier %s, and tier %s is required", have, box.RequireTier),
		Details: []document.Detail{{Path: "/box/require_tier", Message: why}},
		Hint:    tierHint,
	}
}

// admit checks that a plan can be run and takes a place among the runs of the
// state directory. Who has to wait holds nothing meanwhile, and everything is
// looked at again afterwards: the base may have moved on. started is when the
// task's clock began, which is after the waiting.
func (r *Runner) admit(ctx context.Context, p *plan.Plan) (rd *ready, held *state.Slot, started time.Time, err error) {
	limits := r.o.Config.Limits
	memory := p.Box.Limits.MemoryBytes
	if most := int64(limits.TotalMemory); most > 0 && memory > most {
		return nil, nil, started, document.InputAt("/box/memory",
			fmt.Sprintf("is %s, more than the %s that limits.total_memory gives all runs together", document.Size(memory), limits.TotalMemory))
	}
	started = time.Now()
	if rd, err = r.preflight(ctx, p); err != nil {
		return nil, nil, started, err
	}
	held, full, err := r.takeSlot(ctx, memory)
	if err == nil && held != nil {
		return rd, held, started, nil
	}
	if err = errors.Join(err, rd.session.Leave(), rd.repo.Close()); err != nil {
		return nil, nil, started, fmt.Errorf("take a place among the runs: %w", err)
	}
	if held, err = r.awaitSlot(ctx, memory, full); err != nil {
		return nil, nil, started, err
	}
	started = time.Now()
	if rd, err = r.preflight(ctx, p); err != nil {
		return nil, nil, started, errors.Join(err, held.Release())
	}
	return rd, held, started, nil
}

// awaitSlot waits until there is room, for as long as the user allows.
func (r *Runner) awaitSlot(ctx context.Context, memory int64, full string) (*state.Slot, error) {
	limits := r.o.Config.Limits
	patience := time.Duration(max(0, limits.WaitSeconds)) * time.Second
	began := time.Now()
	if r.o.Waiting != nil && patience > 0 {
		r.o.Waiting(fmt.Sprintf("waiting up to %s for other runs to end: %s", patience, full))
	}
	again := time.NewTicker(state.SlotGap)
	defer again.Stop()
	for {
		if time.Since(began) >= patience {
			return nil, &document.BusyError{Reason: full, Waited: time.Since(began)}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-again.C:
		}
		var held *state.Slot
		var err error
		if held, full, err = r.takeSlot(ctx, memory); err != nil || held != nil {
			return held, err
		}
	}
}

func (r *Runner) takeSlot(ctx context.Context, memory int64) (taken *state.Slot, full string, err error) {
	var q state.Quota
	q.Runs, q.Memory = r.o.Config.Limits.Quota()
	return r.o.State.TakeSlot(ctx, q, memory)
}
