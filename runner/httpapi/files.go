package httpapi

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sandboxrun/runner/httpapi/problem"
)

// LogFile is one file of a run's logs.
type LogFile struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// maxLogFiles bounds the list of a run's logs.
const maxLogFiles = 10_000

func (s *Server) fileRoutes() {
	addRoute(s, huma.Operation{Method: http.MethodGet, Path: "/api/runs/{id}/logs", OperationID: "listLogs", Summary: "List the complete outputs of a run's commands"},
		func(ctx context.Context, in *runInput) (*body[[]LogFile], error) {
			list, err := s.logs(ctx, in.ID)
			return &body[[]LogFile]{list}, err
		})
	s.plain(huma.Operation{Method: http.MethodGet, Path: "/api/runs/{id}/logs/{name}", OperationID: "getLog", Summary: "One output, as bytes; ranges are answered",
		Parameters: []*huma.Param{idParam(), {Name: "name", In: "path", Required: true, Schema: &huma.Schema{Type: "string"}}},
		Responses:  bytesOf("text/plain")}, func(w http.ResponseWriter, r *http.Request) error {
		dir, err := s.run(r.Context(), r.PathValue("id"))
		if err != nil {
			return err
		}
		name := r.PathValue("name")
		if name != filepath.Base(name) || strings.HasPrefix(name, ".") {
			return problem.New(problem.CodeNotFound, "there is no log of this name")
		}
		return serveFile(w, r, dir.LogsDir(), name, "text/plain; charset=utf-8")
	})
}

func (s *Server) logs(ctx context.Context, id string) ([]LogFile, error) {
	dir, err := s.run(ctx, id)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir.LogsDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	list := []LogFile{}
	for _, e := range entries[:min(len(entries), maxLogFiles)] {
		if fi, err := e.Info(); err == nil && fi.Mode().IsRegular() {
			list = append(list, LogFile{Name: e.Name(), Bytes: fi.Size()})
		}
	}
	return list, nil
}

// serveFile sends a regular file of a run's directory. No browser takes it for a page.
func serveFile(w http.ResponseWriter, r *http.Request, dir, name, contentType string) error {
	f, err := os.OpenInRoot(dir, name)
	if err != nil {
		return problem.New(problem.CodeNotFound, "there is no file of this name")
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() {
		return problem.New(problem.CodeNotFound, "there is no file of this name")
	}
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Disposition", "attachment")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	http.ServeContent(&fileWriter{ResponseWriter: w, control: http.NewResponseController(w)}, r, "", fi.ModTime(), io.NewSectionReader(f, 0, fi.Size()))
	return nil
}

// fileWriter gives a caller time as long as it takes bytes, and turns the refusal of a range into a problem.
type fileWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	refused bool
}

func (f *fileWriter) WriteHeader(status int) {
	if status != http.StatusRequestedRangeNotSatisfiable {
		f.ResponseWriter.WriteHeader(status)
		return
	}
	f.refused = true
	f.Header().Del("Content-Disposition")
	f.Header().Set("Cache-Control", "no-store") // removed by the library
	problem.New(problem.CodeRange, "the file does not have this range").Write(f.ResponseWriter)
}

func (f *fileWriter) Write(b []byte) (int, error) {
	if f.refused {
		return len(b), nil // the library's own words
	}
	_ = f.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	return f.ResponseWriter.Write(b)
}
