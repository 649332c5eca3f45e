package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/runner/catalog"
	"sandboxrun/runner/client"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/journal"
	"sandboxrun/runner/mailbox"
	"sandboxrun/runner/service"
	"sandboxrun/runner/state"
	"sandboxrun/runner/view"
)

// Local are the runs of a state directory. A server that uses it starts them; without one, workers are started from here.
type Local struct {
	Service *service.Service
	State   *state.State
	Config  config.Config
	Getenv  func(string) string
}

// Submit accepts a task whose repository is below one of serve.repo_roots, where that names any.
func (l Local) Submit(ctx context.Context, task []byte) (view.RunView, error) {
	t, err := document.Decode(task)
	if err != nil {
		return view.RunView{}, err
	}
	repo, ok := service.AllowedRepo(l.Config.Serve.RepoRoots, t.Context.RepoRoot)
	if !ok {
		return view.RunView{}, document.InputAt("/context/repo_root", "is not below a directory of serve.repo_roots in the configuration")
	}
	v, _, err := l.Service.Submit(ctx, service.Submission{Task: task, Repo: repo, By: by})
	return v, err
}

// FollowUp accepts the next task of a session whose repository is allowed.
func (l Local) FollowUp(ctx context.Context, session string, f service.FollowUp) (view.RunView, error) {
	if document.SessionProblem(session) == "" {
		doc, err := l.State.ReadSession(session)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return view.RunView{}, err
		}
		if _, ok := service.AllowedRepo(l.Config.Serve.RepoRoots, doc.RepoRoot); err == nil && !ok {
			return view.RunView{}, document.InputAt("/session_id", "has a repository that is not below a directory of serve.repo_roots in the configuration")
		}
	}
	return l.Service.FollowUp(ctx, session, f)
}

// Run shows a run.
func (l Local) Run(ctx context.Context, id string) (view.RunView, error) {
	if err := known(id); err != nil {
		return view.RunView{}, err
	}
	return l.Service.Run(ctx, id)
}

// known refuses what cannot be the id of a run.
func known(id string) error {
	if !state.ValidRunID(id) {
		return &service.Problem{Code: service.CodeNotFound, Err: &document.InputError{Message: fmt.Sprintf("no run is called %q", excerpt.Clip(id, 64)),
			Hint: "use the whole run_id that execute_task gave"}}
	}
	return nil
}

// Wait returns the result of a run.
func (l Local) Wait(ctx context.Context, id string) ([]byte, error) {
	out, err := l.Service.Wait(ctx, id)
	if err != nil || out.Refused == nil {
		return out.Result, err
	}
	var doc struct {
		Error document.ErrorBody `json:"error"`
	}
	if err := json.Unmarshal(out.Refused, &doc); err != nil {
		return nil, fmt.Errorf("read why run %s was refused: %w", id, err)
	}
	return nil, client.ErrorOf(doc.Error, http.StatusBadRequest)
}

// Cancel asks for the end of a run.
func (l Local) Cancel(ctx context.Context, id, reason string) (view.RunView, error) {
	if err := known(id); err != nil {
		return view.RunView{}, err
	}
	return l.Service.Cancel(ctx, id, mailbox.Cancel{By: by, Reason: reason})
}

// Diff opens the patch of an ended run.
func (l Local) Diff(ctx context.Context, id string) (Patch, error) {
	v, err := l.Run(ctx, id)
	if err != nil {
		return Patch{}, err
	}
	if v.State != view.Ended {
		return Patch{}, &document.InputError{Message: fmt.Sprintf("run %s is %s and has no patch", id, v.State), Hint: "call wait_run first"}
	}
	d, err := l.State.Run(id)
	if err != nil {
		return Patch{}, err
	}
	f, err := os.Open(d.PatchPath())
	if errors.Is(err, fs.ErrNotExist) {
		return Patch{ReadCloser: io.NopCloser(strings.NewReader(""))}, nil
	}
	if err != nil {
		return Patch{}, fmt.Errorf("open patch: %w", err)
	}
	fi, err := f.Stat()
	if err != nil {
		return Patch{}, errors.Join(fmt.Errorf("open patch: %w", err), f.Close())
	}
	return Patch{ReadCloser: f, Bytes: fi.Size()}, nil
}

// Agents lists every agent.
func (l Local) Agents(context.Context) ([]catalog.Agent, error) {
	return catalog.Agents(l.Config, l.Getenv), nil
}

// Doing shows the last event of a run, where it is a call of a tool or a command.
func (l Local) Doing(_ context.Context, id string) string {
	d, err := l.State.Run(id)
	if err != nil {
		return ""
	}
	e, ok, err := journal.Last(d.EventsPath())
	if err != nil || !ok {
		return ""
	}
	return describe(e)
}

// maxWords bounds what is shown of one event, in bytes.
const maxWords = 120

// describe shows an event in a few words; "" for those that tell nothing to a caller. Its words are those of a box.
func describe(e journal.Event) string {
	var d struct {
		Tool    string `json:"tool"`
		Action  string `json:"action"`
		Command string `json:"command"`
	}
	if json.Unmarshal(e.Data, &d) != nil {
		return ""
	}
	switch e.Kind {
	case string(agents.KindToolCall):
		return excerpt.Printable(excerpt.Clip(d.Action+" with "+d.Tool, maxWords))
	case journal.EventApprovalAsked:
		return "the agent waits for a person's answer: sandboxrun approvals list"
	case journal.EventCommandOutput:
		return excerpt.Printable(excerpt.Clip(d.Command, maxWords))
	}
	return ""
}
