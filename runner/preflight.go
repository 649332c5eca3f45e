package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"sandboxrun/agents"
	"sandboxrun/gitdiff"
	"sandboxrun/sandbox"
	"sandboxrun/sandbox/egress"
)

// ready is what a run starts from, found out without creating anything.
type ready struct {
	repo     *gitdiff.Repo
	base     gitdiff.Commit
	engine   sandbox.Info
	treeUser sandbox.User   // of the machine, whom boxes' trees belong to
	agent    agents.Agent   // nil in command mode
	key      egress.KeyFunc // gives the broker the provider's key, which no box ever sees
	// session is the run's place in its session, whose lock is held; nil without one.
	session *sessionTurn
}

// imager is the optional ability of an engine to look at its local images.
type imager interface {
	Image(ctx context.Context, ref string) (sandbox.ImageInfo, error)
}

// preflight checks everything that can be checked by looking: the repository,
// the base, the branch to be, the engine, the image, the agent and its key.
func (r *Runner) preflight(ctx context.Context, p *Plan) (rd *ready, err error) {
	repo, err := gitdiff.Open(p.RepoRoot)
	if err != nil {
		return nil, inputAt("/context/repo_root", repoReason(err))
	}
	var session *sessionTurn
	defer func() {
		if err != nil {
			err = errors.Join(err, session.leave(), repo.Close())
		}
	}()
	if session, err = r.continueSession(ctx, p, repo); err != nil {
		return nil, err
	}
	rd = &ready{repo: repo, session: session}
	if session != nil {
		rd.base = session.begin.commit()
	} else if rd.base, err = repo.Resolve(ctx, p.Base); err != nil {
		return nil, inputAt("/context/base", err.Error())
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
	if rd.treeUser, err = TreeUser(rd.engine); err != nil {
		return nil, err
	}
	if p.Session != "" && session == nil {
		rd.session, err = r.beginSession(ctx, p, rd)
	}
	return rd, err
}

func (r *Runner) preflightAgent(rd *ready, ap *AgentPlan) error {
	a, ok := agents.Lookup(ap.Name)
	if !ok {
		return inputAt("/agent", fmt.Sprintf("no agent is called %q", ap.Name))
	}
	rd.agent = a
	if _, _, err := r.o.Config.ProviderFor([]string{ap.Provider}, []agents.Wire{ap.Wire}); err != nil {
		return inputAt("/agent", fmt.Sprintf("agent %s: %v", ap.Name, err))
	}
	key, err := r.o.Config.Key(ap.Provider, r.o.Getenv)
	if err != nil {
		hint := "set the key in the environment variable or file that the configuration names"
		if all := a.Info().Providers; len(all) > 1 {
			hint += fmt.Sprintf(", or name another provider of agent %s (%s)", ap.Name, listed(all))
		}
		return &InputError{
			Message: "no key for provider " + ap.Provider,
			Details: []Detail{{Path: "/agent", Message: err.Error()}},
			Hint:    hint,
		}
	}
	rd.key = key
	return nil
}

// checkBranchRoom refuses a run whose result could never land, before the work.
func checkBranchRoom(repo *gitdiff.Repo, p *Plan) error {
	if p.Land != LandBranch {
		return nil
	}
	var conflict *gitdiff.RefConflictError
	if err := repo.CheckRef(gitdiff.BranchPrefix + "x"); errors.As(err, &conflict) {
		return inputAt("/land", fmt.Sprintf("branches below %s cannot be created: %v", gitdiff.BranchPrefix, err))
	}
	return nil
}

func checkRuntime(engine sandbox.Info, name string) error {
	if name == "" || slices.Contains(engine.Runtimes, name) {
		return nil
	}
	return inputAt("/box/runtime", fmt.Sprintf("the engine has no runtime %q (it has %v)", name, engine.Runtimes))
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

func inputAt(path, message string) *InputError {
	return &InputError{Message: "the task cannot be run", Details: []Detail{{Path: path, Message: message}}}
}
