package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"sandboxrun/runner/document"
	"sandboxrun/runner/httpapi/problem"
	"sandboxrun/runner/service"
	"sandboxrun/runner/state"
	"sandboxrun/runner/view"
)

type sessionInput struct {
	ID string `doc:"Id of the session." path:"id"`
}

// FollowUpRequest is the next message to the agent of a session.
type FollowUpRequest struct {
	Prompt             string            `doc:"What the agent is told."                                             json:"prompt"`
	Variant            string            `json:"variant,omitempty"`
	Model              string            `json:"model,omitempty"`
	RetryProcessID     string            `doc:"Return to the state before this run of the session."                 json:"retry_process_id,omitempty"`
	ForceWhenDirty     bool              `doc:"Return also while the repository has uncommitted changes."           json:"force_when_dirty,omitempty"`
	Queue              bool              `doc:"Wait behind an active run of the session instead of being refused."  json:"queue,omitempty"`
	AcceptanceCriteria []json.RawMessage `doc:"In place of those of the session's last run, in the form of a task." json:"acceptance_criteria,omitempty"`
	Constraints        []json.RawMessage `doc:"In place of those of the session's last run, in the form of a task." json:"constraints,omitempty"`
}

// FollowUpAnswer names the run of a follow-up.
type FollowUpAnswer struct {
	Run view.RunView `json:"run"`
}

type followUpInput struct {
	ID      string `doc:"Id of the session."       path:"id"`
	RawBody []byte `contentType:"application/json"`
}

func (s *Server) followUp(ctx context.Context, in *followUpInput) (*body[FollowUpAnswer], error) {
	var f FollowUpRequest
	if err := decode(in.RawBody, &f); err != nil {
		return nil, err
	}
	v, err := s.o.Service.FollowUp(ctx, in.ID, service.FollowUp{Prompt: f.Prompt, Variant: f.Variant, Model: f.Model, RetryRun: f.RetryProcessID,
		ForceWhenDirty: f.ForceWhenDirty, Wait: f.Queue, Criteria: f.AcceptanceCriteria, Constraints: f.Constraints, By: caller})
	if err != nil {
		return nil, coded(err)
	}
	exchangeOf(ctx).run = v.RunID
	return &body[FollowUpAnswer]{FollowUpAnswer{v}}, nil
}

func (s *Server) sessionRoutes() {
	addRoute(s, huma.Operation{Method: http.MethodPost, Path: "/api/sessions/{id}/follow-up", OperationID: "followUp", DefaultStatus: http.StatusAccepted,
		Summary: "Tell the agent of a session what to do next", RequestBody: bodyOf[FollowUpRequest](s.api, true)}, s.followUp)
	addRoute(s, huma.Operation{Method: http.MethodGet, Path: "/api/sessions", OperationID: "listSessions", Summary: "List sessions, the last used first"},
		func(context.Context, *struct{}) (*body[[]state.SessionInfo], error) {
			list, err := s.sessions()
			return &body[[]state.SessionInfo]{list}, err
		})
	addRoute(s, huma.Operation{Method: http.MethodGet, Path: "/api/sessions/{id}", OperationID: "getSession", Summary: "Show a session and its runs"},
		func(_ context.Context, in *sessionInput) (*body[SessionDetail], error) {
			session, err := s.session(in.ID)
			return &body[SessionDetail]{session}, err
		})
	addRoute(s, huma.Operation{Method: http.MethodDelete, Path: "/api/sessions/{id}", OperationID: "removeSession", Summary: "Remove a session; its runs and branches stay"},
		func(ctx context.Context, in *sessionInput) (*struct{}, error) {
			return nil, noSession(s.o.State.RemoveSession(ctx, in.ID))
		})
}

// SessionDetail is a session with what goes on in it.
type SessionDetail struct {
	state.SessionView
	Active []view.RunView `doc:"Runs of the session that have not ended, in their order." json:"active"`
}

// active lists runs of sessions that have not ended, the oldest first; of all sessions where id is "".
func (s *Server) active(id string) ([]view.RunView, error) {
	waiting, err := s.o.Service.Queued()
	if err != nil {
		return nil, err
	}
	live, err := s.o.State.Active()
	if err != nil {
		return nil, err
	}
	for _, run := range live {
		if v, err := view.Of(s.o.State, run); err == nil { // else it was removed meanwhile
			waiting = append(waiting, v)
		}
	}
	list := []view.RunView{}
	for _, v := range waiting {
		over := v.State == view.Ended || v.State == view.Refused
		if !over && v.SessionID != "" && (id == "" || v.SessionID == id) {
			list = append(list, v)
		}
	}
	slices.SortFunc(list, func(a, b view.RunView) int { return strings.Compare(a.RunID, b.RunID) })
	return list, err
}

// sessions lists sessions; one whose first run has not ended has nothing but that run.
func (s *Server) sessions() ([]state.SessionInfo, error) {
	list, err := s.o.State.Sessions()
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, one := range list {
		known[one.ID] = true
	}
	active, err := s.active("")
	for _, v := range active {
		if !known[v.SessionID] {
			known[v.SessionID] = true
			list = append(list, state.SessionInfo{ID: v.SessionID, Agent: v.Agent, RepoRoot: v.RepoRoot, Status: state.RunRunning, CreatedAt: v.StartedAt, UpdatedAt: v.StartedAt})
		}
	}
	slices.SortStableFunc(list, func(a, b state.SessionInfo) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return list, err
}

func (s *Server) session(id string) (SessionDetail, error) {
	d := SessionDetail{}
	var err error
	if d.Active, err = s.active(id); err != nil {
		return d, err
	}
	d.SessionView, err = s.o.State.Session(id)
	if _, missing := errors.AsType[*document.InputError](err); missing && len(d.Active) > 0 {
		d.SessionView = state.SessionView{Session: begunBy(d.Active[0]), Busy: true}
		return d, nil
	}
	return d, noSession(err)
}

// begunBy is a session of which there is only the first run.
func begunBy(v view.RunView) state.Session {
	return state.Session{SchemaVersion: state.SessionVersion, ID: v.SessionID, Agent: v.Agent, RepoRoot: v.RepoRoot, CreatedAt: v.StartedAt, UpdatedAt: v.StartedAt, Runs: []state.SessionRun{}}
}

// noSession gives the errors of a session the status they have over HTTP.
func noSession(err error) error {
	if busy, ok := errors.AsType[*document.ConflictError](err); ok {
		return problem.New(problem.CodeSessionBusy, "%s", busy.Message)
	}
	if bad, ok := errors.AsType[*document.InputError](err); ok {
		return problem.New(problem.CodeNotFound, "%s", bad.Message)
	}
	return err
}
