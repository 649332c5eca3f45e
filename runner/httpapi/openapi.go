package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"sandboxrun/runner/document"
	"sandboxrun/schemas"
)

// documents are the program's own schemas, by the names they have in the OpenAPI document.
var documents = map[string]string{"Task": "task", "Plan": "plan", "Result": "result", "Event": "event"}

func (s *Server) openAPIRoutes() {
	text := func(words string) map[string]*huma.Response {
		return map[string]*huma.Response{"200": {Description: words, Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: "string"}}}}}
	}
	ready := text("Tasks can run.")
	ready["503"] = &huma.Response{Description: "One word for what is missing: engine, image, disk or stopping.", Content: ready["200"].Content}
	for _, op := range []huma.Operation{
		{Path: "/healthz", OperationID: "health", Summary: "The server answers", Responses: text("It does.")},
		{Path: "/readyz", OperationID: "ready", Summary: "Tasks can run", Responses: ready},
		{Path: "/metrics", OperationID: "metrics", Summary: "Counters for Prometheus", Responses: text("Its text format."), Security: []map[string][]string{{"token": {}}}},
		{Path: "/openapi.json", OperationID: "openapi", Summary: "This document", Security: []map[string][]string{{"token": {}}}, Responses: map[string]*huma.Response{
			"200": {Description: "OpenAPI 3.1.", Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: "object"}}}},
		}},
	} {
		op.Method = http.MethodGet
		describeErrors(&op)
		s.api.OpenAPI().AddOperation(&op)
	}
	doc := sync.OnceValues(func() ([]byte, error) { return s.Document(addSchema) })
	s.mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		text, err := doc()
		if err != nil {
			panic(err) // made of the program's own parts; the test of the document would have failed
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text) // the caller may have hung up
	})
}

// Document is the OpenAPI document of all routes, in the form of every other document of the program. add adds one of
// the program's schemas to those of the document, by its name there and the name of its file.
func (s *Server) Document(add func(named map[string]any, name, file string) error) ([]byte, error) {
	raw, err := json.Marshal(s.api.OpenAPI())
	if err != nil {
		return nil, fmt.Errorf("describe routes: %w", err)
	}
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("describe routes: %w", err)
	}
	components, _ := doc["components"].(map[string]any)
	named, ok := components["schemas"].(map[string]any)
	if !ok {
		return nil, errors.New("describe routes: the document has no schemas")
	}
	for name, file := range documents {
		if err := add(named, name, file); err != nil {
			return nil, fmt.Errorf("describe routes: schema %s: %w", file, err)
		}
	}
	return document.Encode(doc)
}

// addSchema adds one of the program's schemas and the parts it refers to.
func addSchema(named map[string]any, name, file string) error {
	text, err := schemas.ByName(file)
	if err != nil {
		return err
	}
	text = []byte(strings.ReplaceAll(string(text), `"#/$defs/`, `"#/components/schemas/`+name+"."))
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		return err
	}
	parts, _ := schema["$defs"].(map[string]any) // nil where it has none
	for part, content := range parts {
		named[name+"."+part] = content
	}
	for _, word := range []string{"$defs", "$id", "$schema"} {
		delete(schema, word)
	}
	named[name] = schema
	return nil
}
