package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sandboxrun/gitdiff"
)

// land gives the captured tree one new ref in the user's repository: named
// after the task, or after the run when the task's name is taken.
func (x *run) land(ctx context.Context) error {
	var err error
	for _, id := range []string{x.taskID, x.id} {
		var branch string
		if branch, err = gitdiff.BranchName(id); err != nil {
			return fmt.Errorf("land: %w", err)
		}
		x.commit, err = x.repo.Land(ctx, x.objects, gitdiff.Landing{
			Branch: branch, Parent: x.base, Tree: x.snapshot.Tree, Message: x.message(), When: x.started,
		})
		if err == nil {
			x.branch = branch
			return nil
		}
		if !errors.Is(err, gitdiff.ErrRefExists) {
			break
		}
	}
	return fmt.Errorf("land: %w", err)
}

// message is the landed commit's. It holds nothing the agent wrote.
func (x *run) message() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", x.plan.Objective)
	if x.plan.NotesForHuman != "" {
		fmt.Fprintf(&b, "%s\n\n", x.plan.NotesForHuman)
	}
	fmt.Fprintf(&b, "Task: %s\nRun: %s\nBase: %s\n", x.taskID, x.id, x.base.ID)
	if x.plan.Session != "" {
		fmt.Fprintf(&b, "Session: %s\n", x.plan.Session)
	}
	if x.plan.Agent != nil {
		fmt.Fprintf(&b, "Agent: %s\n", x.plan.Agent.Name)
	}
	return b.String()
}
