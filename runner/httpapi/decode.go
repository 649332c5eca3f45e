package httpapi

import (
	"errors"
	"reflect"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/danielgtaylor/huma/v2"

	"sandboxrun/runner/document"
)

// rawInput is a body that the library hands over unread.
type rawInput struct {
	RawBody []byte `contentType:"application/json"`
}

// decode reads a small document of a caller as strictly as a task: nothing that can be read in two ways, no field that
// is not known, every problem with its place.
func decode(data []byte, into any) error {
	var p document.Problems
	if _, ok := document.StrictJSON(data, nil, &p); ok && p.Empty() {
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
