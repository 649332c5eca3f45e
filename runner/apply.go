package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/apply"
	"sandboxrun/gitdiff/change"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/state"
)

// ApplyOptions are what a caller says about applying a change.
type ApplyOptions struct {
	// Override are the codes of refusals that the caller takes responsibility for, or [OverrideAll] for all.
	Override []string
	// DryRun writes nothing: the report says what would be written.
	DryRun bool
	// Session takes everything the session of the run has changed up to it, not the run alone.
	Session bool
	// ThreeWay merges the lines of files that the working tree has changed as well, and does not ask for the run's base.
	ThreeWay bool
	// Show is called with the result of the run before anything else; nil for nobody.
	Show func(*document.Result)
	// Before is called with what is wrong with the change before anything is written; nil for nobody.
	Before func([]document.Refusal, []document.Issue)
}

// ApplyReport says what Apply wrote.
type ApplyReport struct {
	Run     string   `json:"run"`
	Files   []string `json:"files"`              // paths written or removed, without those already as they should be
	LeftOut []string `json:"left_out,omitempty"` // symbolic links that lead out of the tree, which are never written
	Merged  []string `json:"merged,omitempty"`   // of Files, those that keep lines of the working tree as well
	Runs    []string `json:"runs,omitempty"`     // of a session, those whose changes these are, the first one first
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
	if o.Show != nil {
		o.Show(res)
	}
	applied, err := r.parts(res, plan, o, &rep)
	if err != nil {
		return rep, err
	}
	if changed, err := changes(applied); err != nil || !changed {
		return rep, err
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
	base, err := objects.Tree(ctx, applied[0].res.Git.BaseCommit)
	if err != nil {
		return rep, fmt.Errorf("base of run %s: %w", applied[0].res.RunID, err)
	}
	moved := o.ThreeWay // then the base need not be here
	if !moved {
		if moved, err = r.baseIsHere(ctx, repo, objects, applied[0].res, base); err != nil {
			return rep, err
		}
	}
	diff, err := change.Compare(ctx, objects, base, lastTree(applied, base))
	if err != nil {
		return rep, fmt.Errorf("change of run %s: %w", dir.ID(), err)
	}
	if err := r.permit(ctx, applied, diff, o, &rep); err != nil {
		return rep, err
	}
	done, err := o.writer()(ctx, repo, objects, diff)
	rep.Files, rep.LeftOut, rep.Merged = append(rep.Files, done.Written...), append(rep.LeftOut, done.Escapes...), done.Merged
	return rep, unapplied(res, moved, err)
}

// parts are the runs whose changes are applied: the run alone, or with it those before it in its session.
func (r *Runner) parts(res *document.Result, p *plan.Plan, o ApplyOptions, rep *ApplyReport) ([]part, error) {
	if !o.Session {
		return []part{{res, p}}, nil
	}
	applied, err := r.sessionUpTo(res, p)
	for _, one := range applied {
		rep.Runs = append(rep.Runs, one.res.RunID)
	}
	return applied, err
}

// changes reports whether any of the runs changed files, and refuses those whose change was not kept.
func changes(applied []part) (changed bool, err error) {
	for _, p := range applied {
		changed = changed || len(p.res.FilesChanged) > 0
		if len(p.res.FilesChanged) > 0 && p.res.Git.Patch == "" {
			return false, &document.InputError{Message: fmt.Sprintf("run %s cannot be applied", p.res.RunID), Details: []document.Detail{{Message: "its change holds a secret"}},
				Hint: "see its secret_in_diff issues; run the task again without the secret"}
		}
	}
	return changed, nil
}

// lastTree is the tree that the last run with a change left.
func lastTree(applied []part, base string) string {
	tree := base
	for _, p := range applied {
		tree = cmp.Or(p.res.Git.Tree, tree)
	}
	return tree
}

// permit asks for what the runs were refused for, which the caller has to override. What an earlier run of a session was
// refused for is in the whole.
func (r *Runner) permit(ctx context.Context, applied []part, diff *change.Diff, o ApplyOptions, rep *ApplyReport) error {
	var refused []document.Refusal
	var issues []document.Issue
	flawed := false
	for _, p := range applied {
		reasons, err := r.standing(ctx, p.res, p.plan, diff)
		if err != nil {
			return fmt.Errorf("change of run %s: %w", p.res.RunID, err)
		}
		for _, reason := range reasons {
			if !slices.Contains(refused, reason) {
				refused = append(refused, reason)
			}
		}
		issues, flawed = append(issues, p.res.Issues...), flawed || p.res.Status != document.StatusSuccess
	}
	if err := overridden(rep.Run, refused, o.Override); err != nil {
		return err
	}
	rep.Refused = refused
	if o.Before != nil && (len(refused) > 0 || flawed) {
		o.Before(refused, issues)
	}
	return nil
}

// writer is what writes the change into the working tree, or only says what it would write.
func (o ApplyOptions) writer() func(context.Context, *gitdiff.Repo, *gitdiff.Objects, *change.Diff) (apply.Report, error) {
	switch {
	case o.ThreeWay:
		return func(ctx context.Context, r *gitdiff.Repo, store *gitdiff.Objects, d *change.Diff) (apply.Report, error) {
			return apply.Merge(ctx, r, store, d, o.DryRun)
		}
	case o.DryRun:
		return apply.Try
	}
	return apply.Apply
}

// part is one of the runs whose changes are applied together.
type part struct {
	res  *document.Result
	plan *plan.Plan
}

// sessionUpTo returns the runs of a session up to one of them, the first one first. All of their results are needed: a
// change that one was refused for is in the files of those after it.
func (r *Runner) sessionUpTo(res *document.Result, p *plan.Plan) ([]part, error) {
	no := func(format string, args ...any) error {
		return &document.InputError{Message: fmt.Sprintf("the session of run %s cannot be applied", res.RunID), Details: []document.Detail{{Message: fmt.Sprintf(format, args...)}},
			Hint: mergeHint(res)}
	}
	if p.Session == "" {
		return nil, &document.InputError{Message: fmt.Sprintf("run %s belongs to no session", res.RunID), Hint: "leave --session out"}
	}
	doc, err := r.o.State.ReadSession(p.Session)
	if err != nil {
		return nil, no("session %q cannot be read: %v", p.Session, err)
	}
	last := slices.IndexFunc(doc.Runs, func(s state.SessionRun) bool { return s.RunID == res.RunID })
	if last < 0 {
		return nil, no("a retry has replaced it")
	}
	var parts []part
	for _, s := range doc.Runs[:last] {
		dir, err := r.o.State.Find(s.RunID)
		if err != nil {
			return nil, no("its earlier run %s was removed: %v", s.RunID, err)
		}
		earlier, plan, err := ended(dir)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part{earlier, plan})
	}
	return append(parts, part{res, p}), nil
}

// baseIsHere refuses a change whose base is neither in the history of HEAD nor in the working tree: only a part of the
// work would arrive, such as the last run of a session. moved says that HEAD has other commits than the run began with.
func (r *Runner) baseIsHere(ctx context.Context, repo *gitdiff.Repo, objects *gitdiff.Objects, res *document.Result, base string) (moved bool, err error) {
	head, err := repo.Resolve(ctx, plan.DefaultBase)
	if errors.Is(err, gitdiff.ErrUnborn) {
		return false, nil // the paths that change are compared all the same
	}
	if err != nil {
		return false, fmt.Errorf("apply run %s: %w", res.RunID, err)
	}
	moved = head.ID != res.Git.BaseCommit
	if !moved || head.Tree == base {
		return moved, nil
	}
	has, err := repo.HasAncestor(ctx, head.ID, res.Git.BaseCommit)
	if err != nil || has {
		return moved, err
	}
	diff, err := change.Compare(ctx, objects, head.Tree, base)
	if err != nil {
		return moved, fmt.Errorf("base of run %s: %w", res.RunID, err)
	}
	missing, err := apply.Missing(ctx, repo, objects, diff)
	if errors.Is(err, apply.ErrBare) || errors.Is(err, apply.ErrElsewhere) {
		return moved, nil // the change itself is refused with that reason
	}
	if err != nil || len(missing) == 0 {
		return moved, err
	}
	return moved, &document.InputError{
		Message: fmt.Sprintf("run %s cannot be applied", res.RunID),
		Details: []document.Detail{{Message: fmt.Sprintf("it began from commit %.12s, which HEAD does not contain; the working tree differs from it at %s",
			res.Git.BaseCommit, excerpt.Clip(fmt.Sprintf("%q", missing[:min(len(missing), 5)]), 1000))}},
		Hint: mergeHint(res) + "; of a session, --session brings the earlier runs along, and --three-way merges lines",
	}
}

// mergeHint says how git brings the change in.
func mergeHint(res *document.Result) string {
	if res.Git.Branch == "" {
		return "git applies its patch where it can: git apply --3way " + res.Git.Patch
	}
	return "git merge " + res.Git.Branch
}

// unapplied is the error of a change that a person can make applicable, or err as it is. moved says that HEAD is no
// longer at the base of the run.
func unapplied(res *document.Result, moved bool, err error) error {
	var conflict *apply.ConflictError
	var unsafe *apply.UnsafeError
	var hint string
	run := res.RunID
	switch {
	case errors.As(err, &conflict) && moved:
		hint = "your branch moved since the run began: " + mergeHint(res) + "; --three-way merges lines into the working tree"
	case errors.As(err, &unsafe):
		hint = "nothing is ever written through a symbolic link or into a git directory: remove the link, or merge the run's branch"
	case errors.Is(err, apply.ErrNoGit):
		hint = "install git, or leave --three-way out"
	case errors.As(err, &conflict):
		hint = "commit or stash these changes first, or merge the run's branch; --three-way merges lines where the changes do not touch"
	case errors.Is(err, apply.ErrBare), errors.Is(err, apply.ErrElsewhere):
		hint = "merge the run's branch"
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
