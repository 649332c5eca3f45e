package runner

import (
	"context"
	"errors"

	"sandboxrun/agents"
	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
	"sandboxrun/runner/session"
)

var stepTalk = step.Define("talk/keep")

// skipSave says that there is no conversation to keep.
func skipSave(x *run) bool {
	return x.session == nil || x.boxes.Working == nil || x.evidence.outcome == nil
}

// save keeps the conversation before the box is removed. What cannot be kept is
// reported and nothing more: the session then stays at the conversation before.
func save(ctx context.Context, x *run) error {
	step.Before(stepTalk)
	err := x.session.Keep(ctx, x.boxes.Working, x.id, x.evidence.outcome.SessionID, agents.Kept(x.agent.Info(), x.plan.Agent.Settings))
	step.After(stepTalk)
	if err != nil {
		x.sessionLost("the conversation of this run is not kept, and the next one will not know of it: "+err.Error(), document.SeverityFlaw)
	}
	return nil
}

// restoreConversation unpacks the conversation so far in the box. The run ends
// here where that is not possible: an agent that has forgotten everything is not
// what the caller wants.
func (x *run) restoreConversation(ctx context.Context) error {
	err := x.session.Restore(ctx, x.boxes.Working)
	if failed := (*session.CommandError)(nil); errors.As(err, &failed) {
		x.sessionLost("the conversation so far cannot be restored: "+err.Error(), document.SeverityFatal)
		x.report.stopped = true
		return nil
	}
	return err
}
