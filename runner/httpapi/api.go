package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"sandboxrun/runner/document"
	"sandboxrun/runner/httpapi/problem"
)

// newAPI prepares the library that describes routes, reads their parameters and writes their JSON. Its pages of
// documentation load scripts from elsewhere, and its links add fields to answers: both stay off. It never decodes a body:
// its reader accepts repeated and differently-cased keys.
func newAPI(mux *http.ServeMux) huma.API {
	c := huma.DefaultConfig("sandboxrun", apiVersion)
	c.Info.Description = "Runs tasks of coding agents in throwaway containers and reports what really changed."
	c.OpenAPIPath, c.DocsPath, c.SchemasPath, c.CreateHooks = "", "", "", nil
	c.RejectUnknownQueryParameters = true
	// What strangers wrote is escaped as everywhere else in the program.
	written := huma.Format{Marshal: func(w io.Writer, v any) error {
		doc, err := document.Encode(v)
		if err != nil {
			return err
		}
		_, _ = w.Write(doc) // the caller may have hung up
		return nil
	}}
	c.Formats = map[string]huma.Format{"application/json": written, "json": written}
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}}
	api := humago.New(mux, c)
	schemaOf[problem.Problem](api)
	return api
}

//nolint:gochecknoinits // the library has one constructor of errors for the whole process
func init() {
	huma.NewError = func(status int, message string, causes ...error) huma.StatusError {
		return fromLibrary(status, message, causes)
	}
	huma.NewErrorWithContext = func(_ huma.Context, status int, message string, causes ...error) huma.StatusError {
		return fromLibrary(status, message, causes)
	}
}

// fromLibrary makes a problem of what the library refuses.
func fromLibrary(status int, message string, causes []error) huma.StatusError {
	switch status {
	case http.StatusRequestEntityTooLarge:
		return problem.New(problem.CodeTooLarge, "the body has more than %d bytes", maxBody)
	case http.StatusRequestTimeout:
		return problem.New(problem.CodeTimeout, "the body did not arrive within %s", bodyTimeout)
	case http.StatusNotAcceptable:
		return problem.New(problem.CodeNotAcceptable, "this is available as application/json")
	case http.StatusBadRequest:
		return problem.New(problem.CodeMalformed, "%s", message)
	case http.StatusUnprocessableEntity:
		p := problem.New(problem.CodeBadParameter, "a parameter is not valid")
		for _, cause := range causes {
			if d, ok := errors.AsType[*huma.ErrorDetail](cause); ok {
				if strings.HasPrefix(d.Location, "path.") {
					return problem.New(problem.CodeNotFound, "there is nothing at this path")
				}
				p = p.At("", strings.TrimPrefix(d.Location, "query.")+": "+d.Message)
				continue
			}
			p = p.At("", cause.Error())
		}
		return p
	}
	return problem.Internal(errors.Join(append(causes, errors.New(message))...))
}

// addRoute adds an operation to the server and to the document. Its errors become problems, and internal ones are logged.
func addRoute[I, O any](s *Server, op huma.Operation, handle func(ctx context.Context, in *I) (*O, error)) {
	op.Security = []map[string][]string{{"token": {}}}
	op.MaxBodyBytes, op.BodyReadTimeout, op.SkipValidateBody = maxBody, bodyTimeout, true
	describeErrors(&op)
	content := op.RequestBody
	op.RequestBody = nil
	if content != nil {
		// Only described: told earlier, the library would read bodies itself.
		defer func() { operationOf(s.api.OpenAPI().Paths[op.Path], op.Method).RequestBody = content }()
	}
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, in)
		if err != nil {
			p := problem.From(err)
			exchangeOf(ctx).failed(p)
			return nil, p
		}
		return out, nil
	})
}

// schemaOf describes a type in the document.
func schemaOf[T any](api huma.API) *huma.Schema {
	return api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, "")
}

// operationOf finds an operation of the document.
func operationOf(item *huma.PathItem, method string) *huma.Operation {
	return map[string]*huma.Operation{
		http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodDelete: item.Delete,
	}[method]
}

// describeErrors says of an operation that every failure is a problem.
func describeErrors(op *huma.Operation) {
	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}
	op.Responses["default"] = &huma.Response{
		Description: "A problem: RFC 9457 members beside the error document of the command line.",
		Content:     map[string]*huma.MediaType{problem.ContentType: {Schema: &huma.Schema{Ref: "#/components/schemas/Problem"}}},
	}
}

// apiVersion is the version of the interface, which does not follow that of the program.
const apiVersion = "1.0"

// plain adds a route that writes its answer itself, and describes it in the document. Before it has written anything it
// may return an error.
func (s *Server) plain(op huma.Operation, handle func(w http.ResponseWriter, r *http.Request) error) {
	op.Security = []map[string][]string{{"token": {}}}
	describeErrors(&op)
	known := map[string]bool{}
	for _, p := range op.Parameters {
		known[p.Name] = p.In == "query"
	}
	s.api.OpenAPI().AddOperation(&op)
	s.mux.HandleFunc(op.Method+" "+op.Path, func(w http.ResponseWriter, r *http.Request) {
		err := error(nil)
		for name := range r.URL.Query() {
			if !known[name] {
				err = problem.New(problem.CodeBadParameter, "a parameter is not valid").At("", clip(name)+": unknown query parameter")
			}
		}
		if err == nil {
			err = handle(w, r)
		}
		if err != nil {
			p := problem.From(err)
			exchangeOf(r.Context()).failed(p)
			p.Write(w)
		}
	})
}
