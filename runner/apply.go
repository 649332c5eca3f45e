package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"sandboxrun/gitdiff"
)

// ApplyReport says what Apply wrote.
type ApplyReport struct {
	Run   string   `json:"run"`
	Files []string `json:"files"` // paths written or removed, without those already as they should be
}

// Apply brings the change of an ended run into the working tree it came from.
// Where the tree holds something else than the run's base at a path that would
// change, nothing is written and the error is an *InputError naming the paths.
func (r *Runner) Apply(ctx context.Context, run string) (rep ApplyReport, err error) {
	dir, err := r.o.State.Find(run)
	if err != nil {
		return rep, err
	}
	res, plan, err := ended(dir)
	if err != nil {
		return rep, err
	}
	rep = ApplyReport{Run: dir.ID(), Files: []string{}}
	if len(res.FilesChanged) == 0 {
		return rep, nil
	}
	if res.Git.Patch == "" {
		return rep, &InputError{Message: fmt.Sprintf("run %s cannot be applied", dir.ID()), Details: []Detail{{Message: "its change holds a secret"}},
			Hint: "see its secret_in_diff issues; run the task again without the secret"}
	}
	repo, err := gitdiff.Open(plan.RepoRoot)
	if err != nil {
		return rep, inputAt("", plan.RepoRoot+": "+repoReason(err))
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	objects, err := gitdiff.NewStore(r.o.State.TreesDir()).For(repo)
	if err != nil {
		return rep, fmt.Errorf("open store: %w", err)
	}
	defer func() { err = errors.Join(err, objects.Close()) }()
	base, err := objects.Tree(ctx, res.Git.BaseCommit)
	if err != nil {
		return rep, fmt.Errorf("base of run %s: %w", dir.ID(), err)
	}
	diff, err := objects.Diff(ctx, base, res.Git.Tree)
	if err != nil {
		return rep, fmt.Errorf("change of run %s: %w", dir.ID(), err)
	}
	written, err := repo.Apply(ctx, diff)
	rep.Files = append(rep.Files, written...)
	var conflict *gitdiff.ConflictError
	if errors.As(err, &conflict) || errors.Is(err, gitdiff.ErrBare) {
		return rep, &InputError{Message: fmt.Sprintf("run %s cannot be applied", dir.ID()), Details: []Detail{{Message: err.Error()}},
			Hint: "commit or stash these changes first, or merge the run's branch"}
	}
	return rep, err
}

// ended reads the result and the plan of a run that has one.
func ended(dir *RunDir) (*Result, *Plan, error) {
	doc, err := dir.Result()
	if err != nil {
		return nil, nil, &InputError{Message: fmt.Sprintf("run %s has no result", dir.ID()), Details: []Detail{{Message: err.Error()}}}
	}
	var res Result
	if err := json.Unmarshal(doc, &res); err != nil {
		return nil, nil, fmt.Errorf("read result of run %s: %w", dir.ID(), err)
	}
	plan, err := dir.Plan()
	if err != nil {
		return nil, nil, err
	}
	return &res, plan, nil
}
