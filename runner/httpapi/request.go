package httpapi

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/httpapi/problem"
)

// Bounds of one request.
const (
	maxHead      = 16 << 10 // bytes of its head
	maxBody      = 1 << 20  // bytes of its body
	maxURI       = 8 << 10  // bytes of its path and query
	headTimeout  = 5 * time.Second
	bodyTimeout  = 10 * time.Second
	writeTimeout = 60 * time.Second // of a whole answer that is no stream
	idleTimeout  = 60 * time.Second // between requests of a connection
)

// exchange is what the log tells of a request.
type exchange struct {
	id      string
	pattern string
	run     string
	cause   error
	// problem is the number of an internal error, which its answer names.
	problem string
}

func (x *exchange) failed(p *problem.Problem) { x.cause, x.problem = p.Unwrap(), p.Instance }

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	x, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok {
		return &exchange{} // a test without the chain
	}
	return x
}

func setRoute(ctx context.Context, pattern string) { exchangeOf(ctx).pattern = pattern }

// record counts and logs every request, and turns a panic of a route into an internal error.
func (s *Server) record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		x := &exchange{id: strings.ToLower(rand.Text()[:12]), pattern: "none"}
		out := &recorder{ResponseWriter: w}
		r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
		// A caller that takes nothing must not hold its connection for ever; streams set deadlines of their own.
		_ = http.NewResponseController(w).SetWriteDeadline(began.Add(writeTimeout))
		defer func() {
			if broken := recover(); broken != nil {
				if broken == http.ErrAbortHandler { //nolint:errorlint,err113 // a value, as net/http compares it
					panic(broken)
				}
				s.o.Log.Error("route failed", "request", x.id, "route", x.pattern, "panic", fmt.Sprint(broken), "stack", string(debug.Stack()))
				if out.status == 0 {
					p := problem.Internal(errors.New("a route failed"))
					x.failed(p)
					p.Write(out)
				}
			}
			s.finish(r, x, out, time.Since(began))
		}()
		next.ServeHTTP(out, r)
	})
}

func (s *Server) finish(r *http.Request, x *exchange, out *recorder, took time.Duration) {
	status := out.status
	if status == 0 {
		status = http.StatusOK
	}
	s.metrics.request(x.pattern, r.Method, status, took)
	level := slog.LevelInfo
	if status >= 500 {
		level = slog.LevelError
	}
	attrs := []slog.Attr{
		slog.String("request", x.id), slog.String("route", x.pattern), slog.String("method", clip(r.Method)),
		slog.Int("status", status), slog.Int64("ms", took.Milliseconds()),
	}
	if x.run != "" {
		attrs = append(attrs, slog.String("run", x.run))
	}
	if x.problem != "" {
		attrs = append(attrs, slog.String("problem", x.problem))
	}
	if x.cause != nil {
		attrs = append(attrs, slog.String("cause", excerpt.Clip(x.cause.Error(), 4000)))
	}
	s.o.Log.LogAttrs(r.Context(), level, "request", attrs...)
}

// recorder remembers the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	return r.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// unfit refuses requests that could be read in two ways: odd paths, repeated parameters, bodies where none belongs or of
// another form.
func (s *Server) unfit(r *http.Request) *problem.Problem {
	select {
	case <-s.stopping:
		return problem.New(problem.CodeServerStopping, "the server is stopping")
	default:
	}
	if len(r.RequestURI) > maxURI {
		return problem.New(problem.CodeURITooLong, "path and query have more than %d bytes", maxURI)
	}
	if strings.Contains(r.URL.EscapedPath(), "%") || path.Clean(r.URL.Path) != r.URL.Path {
		return problem.New(problem.CodeNotFound, "there is nothing at this path")
	}
	if err := checkQuery(r); err != nil {
		return err
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodDelete {
		if r.ContentLength != 0 {
			return problem.New(problem.CodeMalformed, "a %s request has no body", r.Method)
		}
		return nil
	}
	return checkBody(r)
}

func checkQuery(r *http.Request) *problem.Problem {
	if strings.Contains(r.URL.RawQuery, ";") {
		return problem.New(problem.CodeBadParameter, `the query holds ";"`)
	}
	for name, values := range r.URL.Query() {
		if len(values) > 1 {
			return problem.New(problem.CodeBadParameter, "the parameter %q is given %d times", clip(name), len(values))
		}
	}
	return nil
}

// checkBody accepts JSON without a content coding, of a known and small length or in chunks.
func checkBody(r *http.Request) *problem.Problem {
	if r.ContentLength > maxBody {
		return problem.New(problem.CodeTooLarge, "the body has more than %d bytes", maxBody)
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return problem.New(problem.CodeUnsupportedMedia, "the body must not be compressed")
	}
	if r.ContentLength == 0 && r.Header.Get("Content-Type") == "" {
		return nil // the route says whether it needs one
	}
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	charset := params["charset"]
	if err != nil || kind != "application/json" || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return problem.New(problem.CodeUnsupportedMedia, "the body must be application/json in UTF-8")
	}
	return nil
}

// clip bounds what a message or a log line quotes of a request.
func clip(s string) string { return excerpt.Clip(excerpt.Printable(s), 64) }

// statusOnly receives what the mux would answer, of which only status and headers are used.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header { return s.header }

func (s *statusOnly) Write(b []byte) (int, error) { return len(b), nil }

func (s *statusOnly) WriteHeader(status int) { s.status = status }
