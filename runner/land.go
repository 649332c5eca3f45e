package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"sandboxrun/gitdiff"
)

// Issue codes of a landing that was not to be.
const (
	CodeLandRefused  = "land_refused"      // the change attacks whoever checks it out, or git refuses it
	CodeRepoLocked   = "repo_locked"       // another git process holds the branch's lock, or left it behind
	CodeRefExists    = "ref_exists"        // branches of both names are there
	CodeRefConflict  = "ref_conflict"      // the branch cannot be made beside another one
	CodeRepoReadOnly = "repo_not_writable" // the user's repository cannot be written to
)

// phaseLand is the one phase that writes into the user's repository.
const phaseLand = "land"

// land gives the captured tree one new ref in the user's repository: named
// after the task, or after the run when the task's name is taken. What keeps
// the branch from being made is an issue; the change stays in the run's patch.
func (x *run) land(ctx context.Context) error {
	if len(x.refused) > 0 {
		x.unlanded(IssueConflict, CodeLandRefused, "no branch was made: "+refusals(x.refused),
			"have the change mended; land.permit in the configuration lets links and names like these land")
		return nil
	}
	var err error
	for _, id := range []string{x.taskID, x.id} {
		var branch string
		if branch, err = gitdiff.BranchName(id); err != nil {
			return fmt.Errorf("land: %w", err)
		}
		x.commit, err = x.repo.Land(ctx, x.objects, gitdiff.Landing{
			Branch: branch, Parent: x.base, Tree: x.snapshot.Tree, Message: x.message(), Trailers: x.trailers(), When: x.started,
		})
		if x.commit != "" {
			x.branch = branch
		}
		if left := (*gitdiff.LitterError)(nil); errors.As(err, &left) {
			return &cleanupError{what: leftLanding, err: left.Err}
		}
		if err == nil {
			return nil
		}
		if !errors.Is(err, gitdiff.ErrRefExists) {
			break
		}
	}
	return x.failLanding(fmt.Errorf("land: %w", err))
}

// failLanding turns what a person can mend in the repository into an issue.
func (x *run) failLanding(err error) error {
	var conflict *gitdiff.RefConflictError
	again := fmt.Sprintf("; \"sandboxrun apply %s\" brings the change into the working tree", x.id)
	switch {
	case errors.Is(err, gitdiff.ErrRefused):
		x.refusedByGit = true
		x.unlanded(IssueConflict, CodeLandRefused, err.Error(), "have the change mended")
	case errors.Is(err, gitdiff.ErrRefLocked):
		x.unlanded(IssueEnv, CodeRepoLocked, err.Error(), "if no git process is running there, remove the lock file"+again)
	case errors.Is(err, gitdiff.ErrRefExists):
		x.unlanded(IssueConflict, CodeRefExists, err.Error(), "choose another task_id"+again)
	case errors.As(err, &conflict):
		x.unlanded(IssueConflict, CodeRefConflict, err.Error(), fmt.Sprintf("rename the branch %s%s", shortBranch(conflict.With), again))
	case diskFull(err):
		x.unlanded(IssueEnv, "disk_limit", err.Error(), "free space on the disk of the repository"+again)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		x.unlanded(IssueEnv, CodeRepoReadOnly, err.Error(), "let this user write to the repository, or set land to none"+again)
	default:
		return err
	}
	return nil
}

func (x *run) unlanded(kind IssueType, code, what, action string) {
	x.findings.add(flaw, Issue{Type: kind, Code: code, Description: what, SuggestedAction: action})
}

// refusals names the first findings that keep a change from landing.
func refusals(list []gitdiff.Finding) string {
	const named = 3
	var parts []string
	for _, f := range list[:min(named, len(list))] {
		parts = append(parts, fmt.Sprintf("%s %q", f.Code, clip(strings.ToValidUTF8(f.Path, "\ufffd"), 200)))
	}
	if more := len(list) - named; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, ", ")
}

// message is the landed commit's. It holds nothing the agent wrote.
func (x *run) message() string {
	return x.secrets.String(x.plan.Objective + "\n\n" + x.plan.NotesForHuman)
}

// trailers are what the landed commit says about where it comes from.
func (x *run) trailers() []gitdiff.Trailer {
	list := []gitdiff.Trailer{{Key: "Task", Value: x.secrets.String(x.taskID)}, {Key: "Run", Value: x.id}, {Key: "Base", Value: x.base.ID}}
	if x.plan.Session != "" {
		list = append(list, gitdiff.Trailer{Key: "Session", Value: x.secrets.String(x.plan.Session)})
	}
	if x.plan.Agent != nil {
		list = append(list, gitdiff.Trailer{Key: "Agent", Value: x.plan.Agent.Name})
	}
	return list
}
