package view

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/state"
)

// Of shows the run of that id; fs.ErrNotExist where there is none.
func Of(st *state.State, id string) (RunView, error) {
	d, err := st.Run(id)
	if err != nil {
		return RunView{}, err
	}
	return OfRun(d)
}

// OfRun shows a run that has a directory; fs.ErrNotExist where it was removed.
func OfRun(d *state.RunDir) (RunView, error) {
	started, err := d.Started()
	if err != nil {
		return RunView{}, err
	}
	v := RunView{RunID: d.ID(), TaskID: d.ID(), StartedAt: started, Issues: []string{}, Attempts: 1}
	// The lock is checked first: a run that ends in between has a result.
	live, err := d.Live()
	if err != nil {
		return RunView{}, err
	}
	p, err := d.Plan()
	switch {
	case err == nil:
		v.addPlan(p)
	case !errors.Is(err, fs.ErrNotExist):
		return RunView{}, err
	}
	w, err := d.Worker()
	switch {
	case err == nil:
		v.Attempts, v.SupersededBy, v.CompareID = max(1, w.Attempt), w.SupersededBy, w.Compare
	case !errors.Is(err, fs.ErrNotExist):
		return RunView{}, err
	}
	data, err := d.Result()
	switch {
	case err == nil:
		return v, v.addResult(data)
	case !errors.Is(err, fs.ErrNotExist):
		return RunView{}, err
	}
	if _, err := os.Stat(d.Dir()); err != nil {
		return RunView{}, fmt.Errorf("show run: %w", err)
	}
	return v, v.addProgress(d, live, p != nil)
}

func (v *RunView) addPlan(p *plan.Plan) {
	v.TaskID = cmp.Or(p.TaskID, v.RunID)
	v.Summary, v.Objective = p.Objective, p.Objective
	v.RepoRoot, v.WorkspaceID = p.RepoRoot, WorkspaceID(p.RepoRoot)
	v.SessionID, v.LimitSeconds = p.Session, p.MaxRuntimeSeconds
	if p.Agent != nil {
		v.Agent, v.Variant, v.Model = p.Agent.Name, p.Agent.Variant, p.Agent.Model
	}
}

// addProgress tells how far a run without a result is.
func (v *RunView) addProgress(d *state.RunDir, live, planned bool) error {
	switch {
	case !live:
		v.State = Crashed
		return nil
	case !planned:
		v.State = Starting
		return nil
	}
	var err error
	if v.ApprovalsPending, err = d.Mailbox().Pending(); err != nil {
		return err
	}
	e, _, err := journal.Last(d.EventsPath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	v.State, v.Phase = Running, e.Phase
	if e.Phase == "" {
		v.State = Starting
	}
	return nil
}

// addResult takes what a list shows from a stored result.
func (v *RunView) addResult(data []byte) error {
	var r struct {
		TaskID       string          `json:"task_id"`
		Status       document.Status `json:"status"`
		Summary      string          `json:"summary"`
		FilesOmitted int             `json:"files_changed_omitted"`
		FilesChanged []struct {
			Additions int `json:"additions"`
			Deletions int `json:"deletions"`
		} `json:"files_changed"`
		Issues []struct {
			Code string `json:"code"`
		} `json:"issues"`
		Git struct {
			Branch string `json:"branch"`
		} `json:"git"`
		Agent struct {
			Model string              `json:"model"`
			Usage document.AgentUsage `json:"usage"`
		} `json:"agent"`
		EndedAt time.Time `json:"ended_at"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return fmt.Errorf("read result of run %s: %w", v.RunID, err)
	}
	v.State, v.Status, v.TaskID, v.Summary, v.Branch = Ended, r.Status, cmp.Or(r.TaskID, v.TaskID), r.Summary, r.Git.Branch
	v.Model = cmp.Or(r.Agent.Model, v.Model)
	v.EndedAt = &r.EndedAt
	v.Files = len(r.FilesChanged) + r.FilesOmitted
	for _, f := range r.FilesChanged {
		v.Additions += f.Additions
		v.Deletions += f.Deletions
	}
	v.Tokens = Tokens{Input: r.Agent.Usage.InputTokens, Output: r.Agent.Usage.OutputTokens}
	for _, i := range r.Issues {
		if !slices.Contains(v.Issues, i.Code) {
			v.Issues = append(v.Issues, i.Code)
		}
	}
	return nil
}
