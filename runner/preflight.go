package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"sandboxrun/agents"
	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/land"
	"sandboxrun/internal/wire"
	"sandboxrun/runner/box"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/program"
	"sandboxrun/runner/session"
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
	// guest becomes the main process of the boxes; pinned when the run begins.
	guest *program.Pinned
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
	var image sandbox.ImageInfo
	im, looks := r.o.Engine.(imager)
	if looks {
		if image, err = im.Image(ctx, p.Box.Image); err != nil {
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
	if looks && rd.agent != nil {
		if err := r.checkProgram(ctx, rd, p, image); err != nil {
			return nil, err
		}
	}
	if p.Session != "" && rd.session == nil {
		rd.session, err = session.Begin(ctx, r.o.State, p, repo, rd.base)
	}
	return rd, err
}

// Check reports whether a plan could be run now, with the errors of Execute. It creates nothing and takes nothing;
// whether a session can go on is decided when its turn comes.
func (r *Runner) Check(ctx context.Context, p *plan.Plan) error {
	alone := *p
	alone.Session, alone.Retry = "", ""
	rd, err := r.preflight(ctx, &alone)
	if err != nil {
		return err
	}
	return rd.repo.Close()
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
