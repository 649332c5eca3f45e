package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"sandboxrun/runner/document"
	"sandboxrun/runner/mailbox"
	"sandboxrun/runner/service"
	"sandboxrun/runner/view"
)

// CancelRequest asks for the end of a run.
type CancelRequest struct {
	Reason string `json:"reason,omitempty" maxLength:"1024"`
}

// AnswerRequest decides a request of an agent.
type AnswerRequest struct {
	Digest   string              `doc:"Of the request that was shown."                       json:"digest"`
	Decision mailbox.Decision    `enum:"allow,deny"                                          json:"decision"`
	Reason   string              `doc:"Told to the model when denied."                       json:"reason,omitempty"`
	Answers  map[string][]string `doc:"Answers to questions, by their id."                   json:"answers,omitempty"`
	Remember bool                `doc:"Decide the same request of this run in the same way." json:"remember,omitempty"`
}

type approvalInput struct {
	ID       string `doc:"Whole id of the run."              path:"id"`
	Approval string `doc:"Id of the request within the run." path:"approval"`
}

type approvalAnswer struct {
	ID       string `doc:"Whole id of the run."              path:"id"`
	Approval string `doc:"Id of the request within the run." path:"approval"`
	RawBody  []byte `contentType:"application/json"`
}

type cancelInput struct {
	ID      string `doc:"Whole id of the run."     path:"id"`
	RawBody []byte `contentType:"application/json"`
}

func (s *Server) controlRoutes() {
	addRoute(s, huma.Operation{Method: http.MethodGet, Path: "/api/approvals", OperationID: "listWaiting", Summary: "List what waits for a person in all runs, the nearest deadline first"},
		func(ctx context.Context, _ *struct{}) (*body[[]service.Approval], error) {
			list, err := s.o.Service.Approvals(ctx, "")
			return &body[[]service.Approval]{list}, coded(err)
		})
	addRoute(s, huma.Operation{Method: http.MethodGet, Path: "/api/runs/{id}/approvals", OperationID: "listApprovals", Summary: "List the requests of a run's agent, the oldest first"},
		func(ctx context.Context, in *runInput) (*body[[]service.Approval], error) {
			if _, err := s.run(ctx, in.ID); err != nil {
				return nil, err
			}
			list, err := s.o.Service.Approvals(ctx, in.ID)
			return &body[[]service.Approval]{list}, coded(err)
		})
	addRoute(s, huma.Operation{Method: http.MethodGet, Path: "/api/runs/{id}/approvals/{approval}", OperationID: "getApproval", Summary: "Show a request of a run's agent"},
		func(ctx context.Context, in *approvalInput) (*body[service.Approval], error) {
			if _, err := s.run(ctx, in.ID); err != nil {
				return nil, err
			}
			a, err := s.o.Service.Approval(ctx, in.ID, in.Approval)
			return &body[service.Approval]{a}, coded(err)
		})
	addRoute(s, huma.Operation{Method: http.MethodPost, Path: "/api/runs/{id}/approvals/{approval}", OperationID: "answerApproval",
		Summary: "Answer a request of a run's agent; the first answer counts", RequestBody: bodyOf[AnswerRequest](s.api, true)}, s.answer)
	addRoute(s, huma.Operation{Method: http.MethodPost, Path: "/api/runs/{id}/cancel", OperationID: "cancelRun", DefaultStatus: http.StatusAccepted,
		Summary: "Ask for the end of a run; asking again changes nothing", RequestBody: bodyOf[CancelRequest](s.api, false)},
		func(ctx context.Context, in *cancelInput) (*body[view.RunView], error) {
			if _, err := s.o.Service.Run(ctx, in.ID); err != nil {
				return nil, coded(err)
			}
			exchangeOf(ctx).run = in.ID
			var c CancelRequest
			if len(in.RawBody) > 0 {
				if err := decode(in.RawBody, &c); err != nil {
					return nil, err
				}
			}
			v, err := s.o.Service.Cancel(ctx, in.ID, mailbox.Cancel{By: caller, Reason: c.Reason})
			if err != nil {
				return nil, coded(err)
			}
			s.enforce(ctx, in.ID)
			return &body[view.RunView]{v}, nil
		})
}

func (s *Server) answer(ctx context.Context, in *approvalAnswer) (*body[service.Approval], error) {
	if _, err := s.run(ctx, in.ID); err != nil {
		return nil, err
	}
	var a AnswerRequest
	if err := decode(in.RawBody, &a); err != nil {
		return nil, err
	}
	if a.Digest == "" {
		return nil, &document.InputError{Message: "the answer is not valid", Details: []document.Detail{{Path: "/digest", Message: "is missing: it names what was shown"}}}
	}
	given, err := s.o.Service.Answer(ctx, in.ID, in.Approval, mailbox.Answer{Digest: a.Digest, Decision: a.Decision, Reason: a.Reason,
		Answers: a.Answers, Remember: a.Remember, By: caller})
	if err != nil {
		return nil, coded(err)
	}
	s.metrics.approvals.WithLabelValues(string(a.Decision), caller).Inc()
	return &body[service.Approval]{given}, nil
}

// enforce ends the process of a cancelled run that does not stop by itself. One goroutine does so for a run; it ends
// with the server, and whoever cancels again goes on.
func (s *Server) enforce(ctx context.Context, id string) {
	if _, busy := s.cancelling.LoadOrStore(id, true); busy {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.streams.Go(func() {
		select {
		case <-s.stopping:
			cancel()
		case <-ctx.Done():
		}
	})
	s.streams.Go(func() {
		defer s.cancelling.Delete(id)
		defer cancel()
		if err := s.o.Service.Enforce(ctx, id); err != nil && ctx.Err() == nil {
			s.o.Log.Warn("a cancelled run was not ended", "run", id, "cause", err.Error())
		}
	})
}
