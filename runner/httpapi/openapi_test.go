package httpapi

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "write the OpenAPI document anew")

const documentPath = "../../docs/openapi.json"

func TestCommittedDocumentIsThatOfTheServer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	// In the repository the program's schemas are files of their own.
	got, err := r.server.Document(func(named map[string]any, name, file string) error {
		named[name] = map[string]any{"$ref": "../schemas/" + file + ".schema.json"}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(documentPath, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(documentPath)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("docs/openapi.json differs from the server's document; run go test ./runner/httpapi -run TestCommittedDocument -update")
	}
}

// contract is the server's document, by which tests judge answers.
type contract struct {
	doc      any
	compiler *jsonschema.Compiler
	mu       sync.Mutex
	paths    map[string]*regexp.Regexp
}

func readContract(s *Server) (*contract, error) {
	text, err := s.Document(addSchema)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := &contract{doc: doc, compiler: jsonschema.NewCompiler(), paths: map[string]*regexp.Regexp{}}
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	c.compiler.AssertFormat()
	for path := range at(doc, "paths").(map[string]any) {
		c.paths[path] = regexp.MustCompile("^" + regexp.MustCompile(`\\\{[a-z]+\\\}`).ReplaceAllString(regexp.QuoteMeta(path), `[^/]+`) + "$")
	}
	return c, c.compiler.AddResource("urn:openapi", doc)
}

func at(doc any, keys ...string) any {
	for _, k := range keys {
		m, _ := doc.(map[string]any)
		doc = m[k]
	}
	return doc
}

// judge holds an answer to what the document says of its route, status and media type.
func (c *contract) judge(t *testing.T, method, path string, a answer) {
	t.Helper()
	path, _, _ = strings.Cut(path, "?")
	for template, form := range c.paths {
		operation := at(c.doc, "paths", template, strings.ToLower(method))
		if !form.MatchString(path) || operation == nil {
			continue
		}
		responses, _ := at(operation, "responses").(map[string]any)
		key := strconv.Itoa(a.status)
		if responses[key] == nil {
			key = "default"
		}
		if responses[key] == nil || key == "default" && a.status < 400 {
			t.Errorf("%s %s: the document has no answer %d", method, template, a.status)
			return
		}
		media, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
		if len(a.body) == 0 && media == "" {
			return
		}
		if at(responses[key], "content", media) == nil {
			t.Errorf("%s %s: the document has no %s for %d", method, template, media, a.status)
			return
		}
		if !strings.HasSuffix(media, "json") {
			return
		}
		escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace
		c.mu.Lock()
		schema, err := c.compiler.Compile("urn:openapi#/paths/" + escape(template) + "/" + strings.ToLower(method) + "/responses/" + key + "/content/" + escape(media) + "/schema")
		c.mu.Unlock()
		if err != nil {
			t.Errorf("%s %s: %v", method, template, err)
			return
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.body))
		if err == nil {
			err = schema.Validate(value)
		}
		if err != nil {
			t.Errorf("%s %s: the answer is not what the document says: %v\n%.500s", method, template, err, a.body)
		}
		return
	}
}

// Every route of the document wants the token, and refuses each wrong one in the same words.
func TestEveryRouteNeedsTheToken(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.contract
	d := r.ended()
	fill := strings.NewReplacer("{id}", d.ID(), "{name}", "claude")
	count := 0
	for path, item := range at(c.doc, "paths").(map[string]any) {
		for method := range item.(map[string]any) {
			method = strings.ToUpper(method)
			open := path == "/healthz" || path == "/readyz" || path == "/api/login"
			var text []byte
			for _, authorization := range []string{"", "Bearer ", "Bearer x", "Bearer " + testToken[:63] + "0", "Basic " + testToken} {
				a := r.callAs(authorization, method, fill.Replace(path), "")
				if open != (a.status != 401) {
					t.Errorf("%s %s with %q: %d", method, path, authorization, a.status)
				}
				if !open && text != nil && !bytes.Equal(text, a.body) {
					t.Errorf("%s %s: another text: %s", method, path, a.body)
				}
				text = a.body
				count++
			}
			a := r.callAs("Bearer "+testToken, method, fill.Replace(path), "", "Origin", "http://127.0.0.1:3000")
			if a.status != 403 {
				t.Errorf("%s %s from another site: %d", method, path, a.status)
			}
		}
	}
	if _, err := r.state.Run(d.ID()); err != nil || count < 50 {
		t.Errorf("%d calls; a refused call changed the run: %v", count, err)
	}
}
