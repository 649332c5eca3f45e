package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"sandboxrun/runner/document"
	"sandboxrun/runner/httpapi/problem"
	"sandboxrun/runner/state"
)

type sessionInput struct {
	ID string `doc:"Id of the session." path:"id"`
}

func (s *Server) sessionRoutes() {
	route(s, huma.Operation{Method: http.MethodGet, Path: "/api/sessions", OperationID: "listSessions", Summary: "List sessions, the last used first"},
		func(context.Context, *struct{}) (*body[[]state.SessionInfo], error) {
			list, err := s.o.State.Sessions()
			return &body[[]state.SessionInfo]{list}, err
		})
	route(s, huma.Operation{Method: http.MethodGet, Path: "/api/sessions/{id}", OperationID: "getSession", Summary: "Show a session and its runs"},
		func(_ context.Context, in *sessionInput) (*body[state.SessionView], error) {
			session, err := s.o.State.Session(in.ID)
			return &body[state.SessionView]{session}, noSession(err)
		})
	route(s, huma.Operation{Method: http.MethodDelete, Path: "/api/sessions/{id}", OperationID: "removeSession", Summary: "Remove a session; its runs and branches stay"},
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
