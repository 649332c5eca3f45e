package httpapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sandboxrun/gitdiff"
	"sandboxrun/runner"
	"sandboxrun/runner/document"
	"sandboxrun/runner/httpapi/problem"
	"sandboxrun/runner/review"
)

// ApplyRequest asks for a run's change in the working tree of its repository.
type ApplyRequest struct {
	DryRun  bool     `doc:"Write nothing: say what would be written."                             json:"dry_run,omitempty"`
	Refused []string `doc:"Codes of the run's refusals that the caller takes responsibility for." json:"refused,omitempty" maxItems:"100"`
}

type applyInput struct {
	ID      string `doc:"Whole id of the run."     path:"id"`
	RawBody []byte `contentType:"application/json"`
}

// Bounds of one page of a change.
const (
	defaultFiles = 50
	maxFiles     = 200
	defaultLines = 2000
	maxLines     = 20_000
)

func (s *Server) reviewRoutes() {
	query := func(name, kind, about string) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: about, Schema: &huma.Schema{Type: kind}}
	}
	answers := bytesOf("text/x-diff")
	answers["200"].Content["application/json"] = &huma.MediaType{Schema: schemaOf[review.Change](s.api)}
	s.plain(huma.Operation{Method: http.MethodGet, Path: "/api/runs/{id}/diff", OperationID: "getDiff", Summary: "The change of a run: a patch for git apply, or its files with their hunks",
		Description: "Accept: application/json gives a page of files with their hunks. Anything else gives the patch, empty for a run that changed nothing; ranges of it are answered.",
		Parameters: []*huma.Param{
			idParam(), query("path", "string", "Page: only this path."), query("path_b64", "string", "Page: only this path, in base64 for one that is not UTF-8."),
			query("offset", "integer", "Page: number of the first file, from 0; next of the page before."), query("limit", "integer", "Page: at most so many files, up to 200."),
			query("line", "integer", "Page of one path: number of the first line of its hunks, from 0; next_line of the page before."),
			query("lines", "integer", "Page: at most so many lines of each file, up to 20000."), query("summary", "boolean", "Page: no hunks."),
		}, Responses: answers}, func(w http.ResponseWriter, r *http.Request) error {
		if strings.Contains(r.Header.Get("Accept"), "application/json") {
			return s.serveDiff(w, r)
		}
		return s.servePatch(w, r)
	})
	s.plain(huma.Operation{Method: http.MethodGet, Path: "/api/runs/{id}/file", OperationID: "getFile", Summary: "One file as it was before the run or after it, up to 5 MiB",
		Parameters: []*huma.Param{
			idParam(), query("path", "string", "The file."), query("path_b64", "string", "The file, in base64 where it is not UTF-8."),
			{Name: "side", In: "query", Description: "Before (base) or after (head, the default).", Schema: &huma.Schema{Type: "string", Enum: []any{"base", "head"}}},
		},
		Responses: map[string]*huma.Response{"200": {Description: "The bytes.", Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: "string"}}}}},
	}, s.serveTreeFile)
	addRoute(s, huma.Operation{Method: http.MethodPost, Path: "/api/runs/{id}/apply", OperationID: "applyRun", Summary: "Bring the change of a run into the working tree of its repository",
		Description: "Nothing is written where a path that would change differs from what the run began with; the answer is 409 and names the paths.",
		RequestBody: bodyOf[ApplyRequest](s.api, false)}, s.apply)
}

func (s *Server) servePatch(w http.ResponseWriter, r *http.Request) error {
	dir, err := s.run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if _, err := os.Lstat(dir.ResultPath()); errors.Is(err, fs.ErrNotExist) {
		return problem.New(problem.CodeNotEnded, "the run has no result yet")
	}
	err = serveFile(w, r, dir.Dir(), filepath.Base(dir.PatchPath()), "text/x-diff; charset=utf-8")
	if p := problem.New(problem.CodeNotFound, ""); errors.As(err, &p) && p.Body.Code == problem.CodeNotFound {
		w.Header().Set("Content-Type", "text/x-diff; charset=utf-8")
		w.WriteHeader(http.StatusOK)
		return nil // nothing was changed
	}
	return err
}

func (s *Server) serveDiff(w http.ResponseWriter, r *http.Request) error {
	dir, err := s.run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	bad := problem.New(problem.CodeBadParameter, "a parameter is not valid")
	number := func(name string, least, most, otherwise int) int {
		text := r.URL.Query().Get(name)
		if text == "" {
			return otherwise
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			bad = bad.At("", name+": must be a number from "+strconv.Itoa(least)+" to "+strconv.Itoa(most))
		}
		return n
	}
	q := review.Query{Path: rawPath(r, bad), Offset: number("offset", 0, 1<<30, 0), Limit: number("limit", 1, maxFiles, defaultFiles),
		Line: number("line", 0, 1<<30, 0), Lines: number("lines", 1, maxLines, defaultLines)}
	if q.Line > 0 && q.Path == "" {
		bad = bad.At("", "line: belongs to one path")
	}
	switch text := r.URL.Query().Get("summary"); text {
	case "", "false":
	case "true":
		q.Summary = true
	default:
		bad = bad.At("", "summary: must be true or false")
	}
	if len(bad.Body.Details) > 0 {
		return bad
	}
	page, err := review.Diff(r.Context(), &s.patches, dir, q)
	if err != nil {
		return unreviewed(err)
	}
	doc, err := document.Encode(page)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.Copy(w, bytes.NewReader(doc)) // the caller may have hung up
	return nil
}

// rawPath reads the path that a request is about, "" for none. It adds what is wrong with it to bad.
func rawPath(r *http.Request, bad *problem.Problem) string {
	path, coded := r.URL.Query().Get("path"), r.URL.Query().Get("path_b64")
	if coded == "" {
		return path
	}
	exact, err := base64.StdEncoding.DecodeString(coded)
	if err != nil || path != "" {
		_ = bad.At("", "path_b64: must be base64, and excludes path")
	}
	return string(exact)
}

func (s *Server) serveTreeFile(w http.ResponseWriter, r *http.Request) error {
	dir, err := s.run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	bad := problem.New(problem.CodeBadParameter, "a parameter is not valid")
	path, side := rawPath(r, bad), review.Side(r.URL.Query().Get("side"))
	if side == "" {
		side = review.Head
	}
	if path == "" && len(bad.Body.Details) == 0 {
		bad = bad.At("", "path: is missing")
	}
	if side != review.Base && side != review.Head {
		bad = bad.At("", "side: must be base or head")
	}
	if len(bad.Body.Details) > 0 {
		return bad
	}
	content, err := review.ReadFile(r.Context(), s.o.State, dir, side, path)
	if err != nil {
		return unreviewed(err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Disposition", "attachment")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout)) // without one it is as before
	_, _ = io.Copy(w, bytes.NewReader(content))                                      // the caller may have hung up
	return nil
}

// unreviewed gives the reasons why nothing can be shown the status they have over HTTP.
func unreviewed(err error) error {
	no := (*gitdiff.NotFileError)(nil)
	switch {
	case errors.Is(err, review.ErrNotEnded):
		return problem.New(problem.CodeNotEnded, "the run has no result yet")
	case errors.Is(err, review.ErrTooLarge):
		return problem.New(problem.CodeTooLarge, "the file has more than %d bytes", review.MaxFile)
	case errors.Is(err, review.ErrWithheld), errors.Is(err, review.ErrGone):
		return problem.New(problem.CodeNotFound, "the trees of this run cannot be shown").With("its change holds a secret, or its repository is no longer there")
	case errors.As(err, &no):
		return problem.New(problem.CodeNotFound, "%s is no file but %s", clip(no.Path), no.What)
	case errors.Is(err, fs.ErrNotExist):
		return problem.New(problem.CodeNotFound, "there is no such path")
	}
	return err
}

func (s *Server) apply(ctx context.Context, in *applyInput) (*body[runner.ApplyReport], error) {
	dir, err := s.run(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	var q ApplyRequest
	if len(in.RawBody) > 0 {
		if err := decode(in.RawBody, &q); err != nil {
			return nil, err
		}
	}
	if p, err := dir.Plan(); err == nil { // without a plan there is no result
		if _, err := s.allowed(p.RepoRoot); err != nil {
			return nil, err
		}
	}
	report, err := s.o.Service.Apply(ctx, in.ID, runner.ApplyOptions{DryRun: q.DryRun, Override: q.Refused})
	return &body[runner.ApplyReport]{report}, coded(err)
}
