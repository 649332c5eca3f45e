package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/land"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
)

// skipLand says that nothing is to be landed: nothing changed, nobody wants it,
// the run failed, a person stopped it (its patch stays for "apply"), the change
// may hold secrets, or not all of it could be read.
func skipLand(x *run) bool {
	return !x.change.any() || x.plan.Land != document.LandBranch || x.report.interrupted || x.change.leaks.Found || x.change.unread || x.status() == document.StatusFailed
}

// maxNumbered bounds the numbered names that are tried when the task's is taken.
const maxNumbered = 9

// landingNames are the names a branch may get, the preferred first: the task's, the same with a number, the run's.
func (x *run) landingNames() []string {
	names := []string{x.taskID}
	for n := 2; n <= maxNumbered; n++ {
		names = append(names, fmt.Sprintf("%s-%d", x.taskID, n))
	}
	return append(names, x.id)
}

// landChange is the phase land: it gives the captured tree one new ref in the user's repository: named
// after the task, with a number when that name is taken. What keeps
// the branch from being made is an issue; the change stays in the run's patch.
func landChange(ctx context.Context, x *run) error {
	if len(x.change.refused) > 0 {
		x.report.add(issue(document.CodeLandRefused, "no branch was made: "+refusals(x.change.refused)).
			withAction("have the change corrected; land.permit in the configuration lets links and names like these land"))
		return nil
	}
	var err error
	for at, id := range x.landingNames() {
		var ref, commit string
		if ref, err = land.BranchName(id); err != nil {
			return fmt.Errorf("land: %w", err)
		}
		if err = land.CheckRef(x.repo, ref); errors.Is(err, land.ErrRefExists) {
			continue
		}
		commit, err = land.Land(ctx, x.repo, x.trees.Objects, land.Landing{
			FreeBytes: x.trees.Limits.FreeBytes,
			Branch:    ref, Parent: x.base, Tree: x.change.snapshot.Tree, Message: x.message(), Trailers: x.trailers(), When: x.started,
			Author: x.author(), Committer: x.committer(), Journal: x.record.Steps.Watch,
		})
		if commit != "" {
			x.landed = landing{commit: commit, ref: ref}
		}
		if left := (*land.LitterError)(nil); errors.As(err, &left) {
			return &document.CleanupError{What: document.LeftLanding, Err: left.Err}
		}
		if err == nil {
			if at > 0 {
				x.report.add(issue(document.CodeBranchTaken, fmt.Sprintf("branch %s%s exists; the change is on %s",
					shortBranch(land.BranchPrefix), x.taskID, shortBranch(ref))))
			}
			return nil
		}
		if !errors.Is(err, land.ErrRefExists) {
			break
		}
	}
	err = fmt.Errorf("land: %w", err)
	i, known := landingIssue(x.id, err)
	if !known {
		return err
	}
	if x.change.refusedByGit = errors.Is(err, land.ErrRefused); x.change.refusedByGit {
		x.report.refuse(document.Refusal{Code: document.CodeLandRefused, Description: err.Error()})
	}
	x.report.add(i)
	return nil
}

// author is who the landed commit says wrote it: the person of the configuration, else whom git would take. The change was
// made on that person's behalf, and the trailers say by what.
func (x *run) author() gitdiff.Person {
	if p, ok := gitdiff.ParsePerson(x.r.o.Config.Land.Author); ok {
		return p
	}
	return x.repo.User(x.r.o.Getenv)
}

// committer is who made the commit: this program, unless the configuration says otherwise.
func (x *run) committer() gitdiff.Person {
	p, _ := gitdiff.ParsePerson(x.r.o.Config.Land.Committer)
	return p
}

// landingIssue is the issue of a landing that a person can make possible in the
// repository; known is false for other failures.
func landingIssue(run string, err error) (i found, known bool) {
	var conflict *land.ConflictError
	again := fmt.Sprintf("; \"sandboxrun apply %s\" brings the change into the working tree", run)
	failed := func(code string) found {
		i := issue(code, err.Error())
		return i.withAction(i.SuggestedAction + again)
	}
	switch {
	case errors.Is(err, land.ErrRefused):
		return issue(document.CodeLandRefused, err.Error()), true
	case errors.Is(err, land.ErrRefLocked):
		return failed(document.CodeRepoLocked), true
	case errors.Is(err, land.ErrRefExists):
		return failed(document.CodeRefExists), true
	case errors.As(err, &conflict):
		return failed(document.CodeRefConflict).withAction(fmt.Sprintf("rename the branch %s%s", shortBranch(conflict.With), again)), true
	case diskFull(err):
		return failed(document.CodeDiskLimit).withSeverity(document.SeverityFlaw).withAction("free space on the disk of the repository" + again), true
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return failed(document.CodeRepoReadOnly), true
	}
	return found{}, false
}

// refusals names the first findings that keep a change from landing.
func refusals(list []gitdiff.Finding) string {
	const named = 3
	var parts []string
	for _, f := range list[:min(named, len(list))] {
		parts = append(parts, fmt.Sprintf("%s %q", f.Code, excerpt.Clip(strings.ToValidUTF8(f.Path, "\ufffd"), 200)))
	}
	if more := len(list) - named; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, ", ")
}
