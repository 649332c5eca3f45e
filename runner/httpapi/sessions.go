package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

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
			list, err := s.o.State.Sessions()
			return &body[[]state.SessionInfo]{list}, err
		})
	addRoute(s, huma.Operation{Method: http.MethodGet, Path: "/api/sessions/{id}", OperationID: "getSession", Summary: "Show a session and its runs"},
		func(_ context.Context, in *sessionInput) (*body[state.SessionView], error) {
			session, err := s.o.State.Session(in.ID)
			return &body[state.SessionView]{session}, noSession(err)
		})
	addRoute(s, huma.Operation{Method: http.MethodDelete, Path: "/api/sessions/{id}", OperationID: "removeSession", Summary: "Remove a session; its runs and branches stay"},
		func(ctx context.Context, in *sessionInput) (*struct{}, error) {
			return nil, noSession(s.o.State.RemoveSession(ctx, in.ID))
		})
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
