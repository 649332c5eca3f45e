package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/state"
	"sandboxrun/runner/view"
)

// FollowUp is the next message of a person to the agent of a session.
type FollowUp struct {
	Prompt         string
	Variant, Model string // "" for those of the session's last run
	RetryRun       string // the run to go back before, "" to go on after the last
	ForceWhenDirty bool
	Wait           bool // wait behind an active run of the session instead of being refused
	// Criteria and Constraints, in the form of a task, take the place of those of the session's last run where they are
	// not nil.
	Criteria    []json.RawMessage
	Constraints []json.RawMessage
	By          string
}

// FollowUp accepts the next task of a session. What it does not say is as in the last run of the session. Errors are
// those of Submit; a session with an active run has the code session_busy.
func (s *Service) FollowUp(ctx context.Context, session string, f FollowUp) (view.RunView, error) {
	doc, err := s.session(session)
	if err != nil {
		return view.RunView{}, err
	}
	if strings.TrimSpace(f.Prompt) == "" {
		return view.RunView{}, document.InputAt("/prompt", "is missing: it is what the agent is told")
	}
	if !f.Wait {
		if err := s.idle(ctx, session); err != nil {
			return view.RunView{}, err
		}
	}
	task, err := s.nextTask(doc, f)
	if err != nil {
		return view.RunView{}, err
	}
	v, _, err := s.Submit(ctx, Submission{Task: task, By: f.By})
	return v, err
}

func (s *Service) session(id string) (state.Session, error) {
	if document.SessionProblem(id) == "" {
		doc, err := s.o.State.ReadSession(id)
		if err == nil && len(doc.Runs) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return doc, err
		}
	}
	return state.Session{}, problem(CodeNotFound, `"sandboxrun sessions list" shows them`, "no session is called %q", excerpt.Clip(id, 64))
}

// nextTask makes the task of a follow-up.
func (s *Service) nextTask(doc state.Session, f FollowUp) ([]byte, error) {
	last := &plan.Plan{Agent: &plan.Agent{Name: doc.Agent}}
	d, err := s.o.State.Run(doc.Runs[len(doc.Runs)-1].RunID)
	if err == nil {
		last, err = d.Plan()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a run that was removed leaves the session
		return nil, err
	}
	agent := map[string]any{"name": doc.Agent}
	if last.Agent != nil {
		agent["variant"], agent["model"] = last.Agent.Variant, last.Agent.Model
	}
	for name, value := range map[string]string{"variant": f.Variant, "model": f.Model} {
		if value != "" {
			agent[name] = value
		}
		if agent[name] == "" {
			delete(agent, name)
		}
	}
	task := map[string]any{"objective": Objective(f.Prompt), "instructions": f.Prompt, "context": map[string]any{"repo_root": doc.RepoRoot},
		"agent": agent, "session_id": doc.ID, "acceptance_criteria": last.Criteria, "constraints": last.Constraints}
	if last.MaxRuntimeSeconds > 0 {
		task["max_runtime_seconds"] = last.MaxRuntimeSeconds
	}
	if f.Criteria != nil {
		task["acceptance_criteria"] = f.Criteria
	}
	if f.Constraints != nil {
		task["constraints"] = f.Constraints
	}
	for _, name := range []string{"acceptance_criteria", "constraints"} {
		if text, err := json.Marshal(task[name]); err != nil || string(text) == "null" {
			delete(task, name)
		}
	}
	if f.RetryRun != "" {
		task["retry_process_id"], task["force_when_dirty"] = f.RetryRun, f.ForceWhenDirty
	}
	text, err := json.Marshal(task)
	if err != nil {
		return nil, fmt.Errorf("make the task of a follow-up: %w", err)
	}
	return text, nil
}
