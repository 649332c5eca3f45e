package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/apply"
	"sandboxrun/gitdiff/change"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/state"
)

// ApplyOptions are what a caller says about applying a change.
type ApplyOptions struct {
	// Override are the codes of refusals that the caller takes responsibility for, or [OverrideAll] for all.
	Override []string
	// Before is called with what is wrong with the change before anything is written; nil for nobody.
	Before func([]document.Refusal, []document.Issue)
}

// ApplyReport says what Apply wrote.
type ApplyReport struct {
	Run     string   `json:"run"`
	Files   []string `json:"files"`              // paths written or removed, without those already as they should be
	LeftOut []string `json:"left_out,omitempty"` // symbolic links that lead out of the tree, which are never written
	// Refused are the refusals that the caller has overridden.
	Refused []document.Refusal `json:"refused,omitempty"`
}

// Apply brings the change of an ended run into the working tree it came from.
// Where the tree holds something else than the run's base at a path that would
// change, nothing is written and the error is an *InputError naming the paths,
// and so it is where the change is refused and the caller does not override it.
func (r *Runner) Apply(ctx context.Context, run string, o ApplyOptions) (rep ApplyReport, err error) {
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
		return rep, &document.InputError{Message: fmt.Sprintf("run %s cannot be applied", dir.ID()), Details: []document.Detail{{Message: "its change holds a secret"}},
			Hint: "see its secret_in_diff issues; run the task again without the secret"}
	}
	repo, err := gitdiff.Open(plan.RepoRoot)
	if err != nil {
		return rep, document.InputAt("", plan.RepoRoot+": "+repoReason(err))
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
	diff, err := change.Compare(ctx, objects, base, res.Git.Tree)
	if err != nil {
		return rep, fmt.Errorf("change of run %s: %w", dir.ID(), err)
	}
	refused, err := r.standing(ctx, res, plan, diff)
	if err != nil {
		return rep, fmt.Errorf("change of run %s: %w", dir.ID(), err)
	}
	if err := overridden(dir.ID(), refused, o.Override); err != nil {
		return rep, err
	}
	rep.Refused = refused
	if o.Before != nil && (len(refused) > 0 || res.Status != document.StatusSuccess) {
		o.Before(refused, res.Issues)
	}
	done, err := apply.Apply(ctx, repo, objects, diff)
	rep.Files, rep.LeftOut = append(rep.Files, done.Written...), append(rep.LeftOut, done.Escapes...)
	return rep, unapplied(dir.ID(), err)
}

// unapplied is the error of a change that a person can make applicable, or err as it is.
func unapplied(run string, err error) error {
	var conflict *apply.ConflictError
	var unsafe *apply.UnsafeError
	var hint string
	switch {
	case errors.As(err, &unsafe):
		hint = "nothing is ever written through a symbolic link or into a git directory: remove the link, or merge the run's branch"
	case errors.As(err, &conflict), errors.Is(err, apply.ErrBare), errors.Is(err, apply.ErrElsewhere):
		hint = "commit or stash these changes first, or merge the run's branch"
	default:
		return err
	}
	return &document.InputError{Message: fmt.Sprintf("run %s cannot be applied", run), Details: []document.Detail{{Message: err.Error()}}, Hint: hint}
}

// ended reads the result and the plan of a run that has one.
func ended(dir *state.RunDir) (*document.Result, *plan.Plan, error) {
	doc, err := dir.Result()
	if err != nil {
		return nil, nil, &document.InputError{Message: fmt.Sprintf("run %s has no result", dir.ID()), Details: []document.Detail{{Message: err.Error()}}}
	}
	var res document.Result
	if err := json.Unmarshal(doc, &res); err != nil {
		return nil, nil, fmt.Errorf("read result of run %s: %w", dir.ID(), err)
	}
	plan, err := dir.Plan()
	if err != nil {
		return nil, nil, err
	}
	return &res, plan, nil
}
