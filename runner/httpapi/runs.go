package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"sandboxrun/runner/document"
	"sandboxrun/runner/httpapi/problem"
	"sandboxrun/runner/index"
	"sandboxrun/runner/view"
)

// RunDetail is one run with the documents it has.
type RunDetail struct {
	view.RunView
	Plan   json.RawMessage `doc:"What the task was compiled to; missing before the run begins."              json:"plan,omitempty"`
	Result json.RawMessage `doc:"The result, once the run has one."                                          json:"result,omitempty"`
	Error  json.RawMessage `doc:"The error document of a run that was accepted and then could not be begun." json:"error,omitempty"`
}

type listInput struct {
	Limit       int    `default:"50"                                                                 doc:"At most so many runs." maximum:"200"      minimum:"1" query:"limit"`
	Before      string `doc:"Only runs accepted before the run of this id; next of the page before." pattern:"^[0-9a-z]{26}$"    query:"before"`
	State       string `enum:"queued,starting,running,ended,refused,crashed"                         query:"state"`
	Status      string `enum:"success,partial,failed"                                                query:"status"`
	Agent       string `maxLength:"200"                                                              query:"agent"`
	WorkspaceID string `maxLength:"64"                                                               query:"workspace_id"`
	SessionID   string `maxLength:"128"                                                              query:"session_id"`
	TaskID      string `maxLength:"128"                                                              query:"task_id"`
	CompareID   string `doc:"Only runs of this comparison."                                          maxLength:"64"              query:"compare_id"`
	Words       string `doc:"Words that all occur in what the list shows of a run, in any case."     maxLength:"200"             query:"q"`
}

func (s *Server) runRoutes() {
	addRoute(s, huma.Operation{Method: http.MethodGet, Path: "/api/runs", OperationID: "listRuns", Summary: "List and search runs, the newest first"},
		func(ctx context.Context, in *listInput) (*body[index.Page], error) {
			page, err := s.index.Page(ctx, index.Query{Limit: in.Limit, Before: in.Before, State: view.State(in.State), Status: document.Status(in.Status),
				Agent: in.Agent, Workspace: in.WorkspaceID, Session: in.SessionID, TaskID: in.TaskID, Compare: in.CompareID, Words: in.Words})
			return &body[index.Page]{page}, err
		})
	addRoute(s, huma.Operation{Method: http.MethodGet, Path: "/api/runs/{id}", OperationID: "getRun", Summary: "Show a run with its plan and its result"},
		func(ctx context.Context, in *runInput) (*body[RunDetail], error) {
			detail, err := s.detail(ctx, in.ID)
			return &body[RunDetail]{detail}, err
		})
	addRoute(s, huma.Operation{Method: http.MethodDelete, Path: "/api/runs/{id}", OperationID: "removeRun", Summary: "Remove an ended run; its branch stays"},
		func(ctx context.Context, in *runInput) (*struct{}, error) {
			if v, err := s.o.Service.Run(ctx, in.ID); err == nil && v.State != view.Ended && v.State != view.Crashed {
				return nil, problem.New(problem.CodeNotEnded, "run %s is %s", v.RunID, v.State).With("cancel it first")
			}
			dir, err := s.run(ctx, in.ID)
			if err != nil {
				return nil, err
			}
			err = s.o.State.Remove(dir)
			if bad, ok := errors.AsType[*document.InputError](err); ok {
				return nil, problem.New(problem.CodeNotEnded, "%s", bad.Message).With(bad.Hint)
			}
			s.index.Forget(in.ID)
			return nil, err
		})
}

func (s *Server) detail(ctx context.Context, id string) (RunDetail, error) {
	v, err := s.o.Service.Run(ctx, id)
	if err != nil {
		return RunDetail{}, coded(err)
	}
	exchangeOf(ctx).run = v.RunID
	d := RunDetail{RunView: v}
	if d.Error, err = s.o.Service.Refusal(id); err != nil {
		return d, err
	}
	dir, err := s.o.State.Run(id)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil // it waits, or was refused
	}
	if err != nil {
		return d, err
	}
	if d.Plan, err = document.ReadSmall(dir.Path("plan.json"), 16*document.MaxDocument); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	if d.Result, err = dir.Result(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	return d, nil
}
