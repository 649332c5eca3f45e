package httpapi

import (
	"context"
	"errors"
	"io/fs"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	jsonv2 "github.com/go-json-experiment/json"

	"sandboxrun/runner/document"
	"sandboxrun/runner/httpapi/problem"
	"sandboxrun/runner/service"
	"sandboxrun/runner/state"
)

// body is an answer of one JSON document.
type body[T any] struct{ Body T }

// run finds a run by its whole id.
func (s *Server) run(ctx context.Context, id string) (*state.RunDir, error) {
	dir, err := s.o.State.Run(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, problem.New(problem.CodeNotFound, "there is no run of this id")
	}
	exchangeOf(ctx).run = id
	return dir, err
}

type runInput struct {
	ID string `doc:"Whole id of the run." path:"id"`
}

func idParam() *huma.Param {
	return &huma.Param{Name: "id", In: "path", Required: true, Description: "Whole id of the run.", Schema: &huma.Schema{Type: "string"}}
}

// rawInput is a body that the library hands over unread.
type rawInput struct {
	RawBody []byte `contentType:"application/json"`
}

// decode reads a small document of a caller as strictly as a task: nothing that can be read in two ways, no field that
// is not known, every problem with its place. free are places of objects with any keys.
func decode(data []byte, into any, free ...string) error {
	var p document.Problems
	if _, ok := document.StrictJSON(data, free, &p); ok && p.Empty() {
		err := jsonv2.Unmarshal(data, into, jsonv2.RejectUnknownMembers(true))
		if bad, wrong := errors.AsType[*jsonv2.SemanticError](err); wrong {
			p.Add(string(bad.JSONPointer), "is not known here, or not of this type")
		} else if err != nil {
			p.Add("", "%v", err)
		}
	}
	return p.Err("the body is not valid", `"/openapi.json" describes it`)
}

// bodyOf describes a body that decode reads.
func bodyOf[T any](api huma.API, required bool) *huma.RequestBody {
	schema := api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, "")
	return &huma.RequestBody{Required: required, Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}
}

// taskBody describes a body that is a task. The library does not read it.
func taskBody() *huma.RequestBody {
	return &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/Task"}}}}
}

// described is an answer whose form one of the program's own schemas describes.
func described(status, text, schema string) map[string]*huma.Response {
	content := map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/" + schema}}}
	return map[string]*huma.Response{status: {Description: text, Content: content}}
}

func bytesOf(mediaType string) map[string]*huma.Response {
	content := map[string]*huma.MediaType{mediaType: {Schema: &huma.Schema{Type: "string"}}}
	return map[string]*huma.Response{"200": {Description: "The bytes.", Content: content}, "206": {Description: "A range of them.", Content: content}}
}

// caller is what answers and cancels that came over HTTP say of who gave them.
const caller = "api"

// coded gives the errors of the service the status they have over HTTP.
func coded(err error) error {
	bad, ok := errors.AsType[*service.Problem](err)
	if !ok {
		return err
	}
	p := problem.New(bad.Code, "%s", bad.Error())
	if input, ok := errors.AsType[*document.InputError](bad.Err); ok {
		p.Body.Message, p.Body.Details, p.Body.Hint = input.Message, input.Details, input.Hint
	}
	return p
}
