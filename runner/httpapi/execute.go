package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sandboxrun/runner/document"
	"sandboxrun/runner/httpapi/problem"
	"sandboxrun/runner/service"
	"sandboxrun/runner/view"
)

// maxWaits bounds the callers that wait for results.
const maxWaits = 64

func (s *Server) executeRoutes() {
	accepted := &huma.Response{Description: "The task was accepted, and runs whatever becomes of the caller.",
		Headers: map[string]*huma.Param{"Location": {Description: "Path of the run.", Schema: &huma.Schema{Type: "string"}}},
		Content: map[string]*huma.MediaType{"application/json": {Schema: schemaOf[view.RunView](s.api)}}}
	op := &huma.Operation{Method: http.MethodPost, Path: "/execute", OperationID: "execute", Security: []map[string][]string{{"token": {}}},
		Summary: "Run a task and answer with its result, or with Prefer: respond-async with the run",
		Description: "Without Prefer the answer is the result of the run, whatever its status. It begins when the run does; until the result is " +
			"there, a space is sent now and then. A task that does not begin in time is withdrawn. Hanging up changes nothing: the same task under the " +
			"same task_id finds the same run.",
		Parameters: []*huma.Param{{Name: "Prefer", In: "header", Description: "respond-async, or wait=SECONDS for the result within that time and the run after it.",
			Schema: &huma.Schema{Type: "string"}}},
		RequestBody: taskBody(), Responses: described("200", "The result.", "Result")}
	op.Responses["202"] = accepted
	describeErrors(op)
	s.api.OpenAPI().AddOperation(op)
	s.mux.HandleFunc("POST /execute", func(w http.ResponseWriter, r *http.Request) {
		if err := s.execute(w, r); err != nil {
			p := problem.From(err)
			exchangeOf(r.Context()).failed(p)
			p.Write(w)
		}
	})
}

// execute accepts a task and answers with its run or its result. An error is returned while nothing was answered.
func (s *Server) execute(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := s.untilStop(r.Context())
	defer cancel()
	patience, async, err := preference(r.Header.Values("Prefer"))
	if err != nil {
		return err
	}
	task, err := readBody(w, r)
	if err != nil {
		return err
	}
	if !async {
		if s.waits.Add(1) > maxWaits {
			s.waits.Add(-1)
			return problem.New(problem.CodeTooManyRequests, "%d callers wait for results", maxWaits).With("send Prefer: respond-async")
		}
		defer s.waits.Add(-1)
	}
	v, existing, err := s.submit(ctx, task)
	if err != nil {
		return err
	}
	exchangeOf(ctx).run = v.RunID
	if async && patience == 0 {
		return accept(w, v)
	}
	if async {
		return s.answerWithin(ctx, w, v, patience)
	}
	return s.answerResult(ctx, w, v, existing)
}

// untilStop is a context that also ends when the server stops.
func (s *Server) untilStop(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	s.streams.Go(func() {
		select {
		case <-s.stopping:
			cancel(errStopping)
		case <-ctx.Done():
		}
	})
	return ctx, func() { cancel(nil) }
}

// submit accepts a task whose repository callers may use.
func (s *Server) submit(ctx context.Context, task []byte) (view.RunView, bool, error) {
	t, err := document.Decode(task)
	if err != nil {
		return view.RunView{}, false, err
	}
	repo, err := s.allowed(t.Context.RepoRoot)
	if err != nil {
		return view.RunView{}, false, err
	}
	v, existing, err := s.o.Service.Submit(ctx, service.Submission{Task: task, Repo: repo, By: caller})
	return v, existing, coded(err)
}

// answerWithin answers with the result if it is there in time, and else with the run.
func (s *Server) answerWithin(ctx context.Context, w http.ResponseWriter, v view.RunView, patience time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience + writeTimeout)) // without one it is as before
	out, err := s.o.Service.Wait(limited, v.RunID)
	switch {
	case err == nil && out.Refused != nil:
		return refusedProblem(out.Refused)
	case err == nil:
		return writeResult(w, out.Result)
	case limited.Err() != nil && ctx.Err() == nil:
		if v, err = s.o.Service.Run(ctx, v.RunID); err != nil {
			return coded(err)
		}
		return accept(w, v)
	}
	return stopped(ctx, v, coded(err))
}

// answerResult waits until the run begins, then answers with its result when it is there. A task that does not begin
// in time is withdrawn, unless an earlier caller sent it.
func (s *Server) answerResult(ctx context.Context, w http.ResponseWriter, v view.RunView, existing bool) error {
	limit := time.Duration(s.o.Config.Serve.QueueWaitSeconds) * time.Second
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(limit + writeTimeout)) // without one it is as before
	begun, err := s.o.Service.Begun(limited, v.RunID)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		if existing {
			return accept(w, v)
		}
		err = s.o.Service.Withdraw(ctx, v.RunID)
		if bad, ok := errors.AsType[*service.Problem](err); !ok || bad.Code != service.CodeBegun {
			if err != nil {
				return coded(err)
			}
			return problem.New(problem.CodeQueueTimeout, "run %s did not begin within %s, and was withdrawn", v.RunID, limit).With("send the task again later")
		}
		begun, err = s.o.Service.Begun(ctx, v.RunID)
	}
	if err != nil {
		return stopped(ctx, v, coded(err))
	}
	if begun.State == view.Refused {
		out, err := s.o.Service.Wait(ctx, v.RunID)
		if err != nil {
			return stopped(ctx, v, coded(err))
		}
		return refusedProblem(out.Refused)
	}
	s.stream(ctx, w, v.RunID)
	return nil
}

// stream sends the head of the answer at once, a space now and then, and the result. A caller whose answer cannot be
// completed sees the connection break.
func (s *Server) stream(ctx context.Context, w http.ResponseWriter, run string) {
	writeHead(w, http.StatusOK)
	results := make(chan service.Outcome, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer close(results)
		if out, err := s.o.Service.Wait(ctx, run); err == nil && out.Result != nil {
			results <- out
		} else if err != nil && ctx.Err() == nil {
			s.o.Log.Error("a result cannot be answered", "run", run, "cause", err.Error())
		}
	}()
	alive := time.NewTicker(pingEvery)
	defer alive.Stop()
	control := http.NewResponseController(w)
	send := func(text []byte) bool {
		_ = control.SetWriteDeadline(time.Now().Add(writeTimeout))
		_, err := w.Write(text)
		return err == nil && control.Flush() == nil
	}
	if !send(nil) {
		return
	}
	for {
		select {
		case out, ok := <-results:
			if !ok || !send(out.Result) {
				panic(http.ErrAbortHandler)
			}
			return
		case <-alive.C:
			if !send([]byte(" ")) {
				return // the caller has hung up; the run goes on
			}
		}
	}
}

func writeHead(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
}

func writeResult(w http.ResponseWriter, result []byte) error {
	writeHead(w, http.StatusOK)
	_, _ = w.Write(result) // the caller may have hung up
	return nil
}

// accept answers with a run that goes on.
func accept(w http.ResponseWriter, v view.RunView) error {
	doc, err := document.Encode(v)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/api/runs/"+v.RunID)
	w.Header().Set("Preference-Applied", "respond-async")
	writeHead(w, http.StatusAccepted)
	_, _ = w.Write(doc) // the caller may have hung up
	return nil
}

// stopped is the answer to a caller who waited when the server stopped: the task is safe.
func stopped(ctx context.Context, v view.RunView, err error) error {
	if errors.Is(context.Cause(ctx), errStopping) {
		return problem.New(problem.CodeServerStopping, "the server is stopping; run %s was accepted and goes on", v.RunID).With("send the same task again, or GET /api/runs/" + v.RunID)
	}
	return err
}

// refusedProblem answers for a task that was accepted and then could not be begun.
func refusedProblem(doc []byte) error {
	var refused struct {
		Error document.ErrorBody `json:"error"`
	}
	if err := json.Unmarshal(doc, &refused); err != nil {
		return err
	}
	code := map[document.ErrorType]string{document.ErrorInvalidInput: problem.CodeInvalid, document.ErrorBridgeFailure: problem.CodeEngineUnavailable}[refused.Error.Type]
	if code == "" {
		return errors.New(refused.Error.Message)
	}
	p := problem.New(code, "%s", refused.Error.Message).With(refused.Error.Hint)
	p.Body.Details = refused.Error.Details
	return p
}

// preference reads what a caller prefers: not to wait, or to wait so long.
func preference(values []string) (wait time.Duration, async bool, err error) {
	for word := range strings.SplitSeq(strings.Join(values, ","), ",") {
		word = strings.ToLower(strings.TrimSpace(word))
		if word == "respond-async" {
			async = true
		}
		text, ok := strings.CutPrefix(word, "wait=")
		if !ok {
			continue // preferences that are not known are ignored, as RFC 7240 wants
		}
		seconds, perr := strconv.Atoi(text)
		if perr != nil || seconds < 0 || seconds > maxPatience {
			return 0, false, problem.New(problem.CodeBadParameter, "Prefer: wait must be a number of seconds up to %d", maxPatience)
		}
		wait, async = time.Duration(seconds)*time.Second, true
	}
	return wait, async, nil
}

// maxPatience is the longest time a caller may want to wait, in seconds.
const maxPatience = 86_400

// readBody reads the body of a request that the library does not read.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout)) // without one the server's own holds
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	large := (*http.MaxBytesError)(nil)
	switch {
	case errors.As(err, &large):
		return nil, problem.New(problem.CodeTooLarge, "the body has more than %d bytes", maxBody)
	case err != nil && r.Context().Err() == nil:
		return nil, problem.New(problem.CodeTimeout, "the body did not arrive within %s", bodyTimeout)
	case err != nil:
		return nil, problem.New(problem.CodeMalformed, "the body did not arrive")
	case len(data) == 0:
		return nil, problem.New(problem.CodeMalformed, "the body is empty")
	}
	return data, nil
}
