package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

var updateSchema = flag.Bool("update", false, "write the constraints of the schema of tasks anew")

const schemaPath = "../../schemas/task.schema.json"

// schemaPart is the definition of a constraint in the schema of tasks: it ends at the next brace of the same depth.
var schemaPart = regexp.MustCompile(`(?ms)^    "constraint": \{\n.*?^    \}`)

// The schema of tasks says of every kind what its declaration does.
func TestSchemaFollowsFromTheKinds(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(schemaPath)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(schemaPart.FindAll(text, -1)); n != 1 {
		t.Fatalf("%s defines a constraint %d times", schemaPath, n)
	}
	want := schemaPart.ReplaceAllLiteral(text, []byte(constraintSchema(Kinds())))
	switch {
	case bytes.Equal(want, text):
	case *updateSchema:
		err = os.WriteFile(schemaPath, want, 0o644) // #nosec G306 -- a file of the repository
	default:
		err = fmt.Errorf("%s is not what the kinds give (-have +want), run the test with -update:\n%s", schemaPath, cmp.Diff(string(text), string(want)))
	}
	if err != nil {
		t.Error(err)
	}
}

// constraintSchema writes the definition of a constraint of one of the kinds. Each kind closes its own form, so that a
// parameter of another kind is refused by its name.
func constraintSchema(kinds []Kind) string {
	var names, clauses []string
	all := map[string]string{kindMember: "true"}
	for _, k := range kinds {
		names = append(names, k.Name)
		forms, required := map[string]string{kindMember: "true"}, []string{}
		for _, p := range k.Params {
			forms[p.Name], all[p.Name] = p.schema(), "true"
			if p.Required {
				required = append(required, p.Name)
			}
		}
		clauses = append(clauses, fmt.Sprintf(`        {
          "if": { "required": ["kind"], "properties": { "kind": { "const": %s } } },
          "then": {
            "description": %s,
            "required": %s,
            "additionalProperties": false,
            "properties": {
%s
            }
          }
        }`, quoted(k.Name), quoted(k.Help), quotedList(required), members(forms, "              ")))
	}
	clauses = append(clauses, fmt.Sprintf(`        {
          "if": { "required": ["kind"], "properties": { "kind": { "enum": %s } } },
          "else": {
            "additionalProperties": false,
            "properties": {
%s
            }
          }
        }`, quotedList(names), members(all, "              ")))
	return fmt.Sprintf(`    "constraint": {
      "$comment": "Made from the kinds of runner/check: go test ./runner/check -run TestSchemaFollows -update",
      "description": "A sentence for the agent, or an object that names a check with its parameters.",
      "type": ["string", "object"],
      "pattern": "\\S",
      "maxLength": 8000,
      "required": ["kind"],
      "properties": {
        "kind": {
          "description": "Which check.",
          "enum": %s
        }
      },
      "allOf": [
%s
      ]
    }`, quotedList(names), strings.Join(clauses, ",\n"))
}

// schema is the form of one parameter.
func (p Param) schema() string {
	switch p.Type {
	case Integer:
		return fmt.Sprintf(`{ "description": %s, "type": "integer", "minimum": %d, "maximum": %d }`, quoted(p.Help), p.Min, p.Max)
	case Globs:
		return fmt.Sprintf(`{ "description": %s, "type": "array", "minItems": %d, "maxItems": %d, "items": { "type": "string", "minLength": 1, "maxLength": %d } }`,
			quoted(p.Help), p.Min, p.Max, MaxGlob)
	case Names:
		return fmt.Sprintf(`{ "description": %s, "type": "array", "minItems": %d, "maxItems": %d, "items": { "type": "string", "minLength": 1, "maxLength": %d } }`,
			quoted(p.Help), p.Min, p.Max, MaxGlob)
	case Boolean:
		return fmt.Sprintf(`{ "description": %s, "type": "boolean" }`, quoted(p.Help))
	case Choice:
		return fmt.Sprintf(`{ "description": %s, "enum": %s }`, quoted(p.Help), quotedList(p.Of))
	}
	panic("no form for type " + p.Type)
}

func members(forms map[string]string, indent string) string {
	var lines []string
	for name, form := range forms {
		lines = append(lines, indent+quoted(name)+": "+form)
	}
	slices.Sort(lines)
	return strings.Join(lines, ",\n")
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func quotedList(list []string) string {
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = quoted(s)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// wrongValues are the parameters of a kind that neither the schema nor the parser takes, by what is wrong with them; at is
// where both must say so.
func wrongValues(p Param) map[string]struct{ value, at string } {
	at := "/" + p.Name
	list := func(n int64) string { return "[" + strings.TrimSuffix(strings.Repeat(`"a",`, int(n)), ",") + "]" }
	wrong := map[string]struct{ value, at string }{
		"null": {`null`, at}, "boolean": {`true`, at}, "string": {`"1"`, at}, "object": {`{"max":1}`, at}, "fraction": {`1.5`, at},
	}
	switch p.Type {
	case Boolean:
		delete(wrong, "boolean")
		wrong["number"], wrong["list"] = struct{ value, at string }{`1`, at}, struct{ value, at string }{`[true]`, at}
	case Choice:
		wrong["number"], wrong["another word"] = struct{ value, at string }{`1`, at}, struct{ value, at string }{`"neither"`, at}
	case Integer:
		for name, value := range map[string]string{
			"list": `[1]`, "too small": fmt.Sprint(p.Min - 1), "too large": fmt.Sprint(p.Max + 1), "huge": strings.Repeat("9", 40), "hugely negative": "-" + strings.Repeat("9", 40),
		} {
			wrong[name] = struct{ value, at string }{value, at}
		}
	case Globs, Names:
		wrong["number"] = struct{ value, at string }{`1`, at}
		wrong["too few"] = struct{ value, at string }{list(p.Min - 1), at}
		wrong["too many"] = struct{ value, at string }{list(p.Max + 1), at}
		for name, item := range map[string]string{
			"a number in it": `3`, "null in it": `null`, "a list in it": `["a"]`, "an empty one in it": `""`, "a long one in it": `"` + strings.Repeat("é", MaxGlob+1) + `"`,
		} {
			wrong[name] = struct{ value, at string }{`["a",` + item + `]`, at + "/1"}
		}
	}
	return wrong
}

// rightValues are parameters that both take.
func rightValues(p Param) []string {
	switch p.Type {
	case Boolean:
		return []string{"true", "false"}
	case Choice:
		return []string{quoted(p.Of[0]), quoted(p.Of[len(p.Of)-1])}
	case Globs, Names:
	case Integer:
		return []string{fmt.Sprint(p.Min), fmt.Sprint(p.Max), fmt.Sprintf("%d.0", p.Max), fmt.Sprintf("%d.000", p.Min)}
	}
	many := strings.Repeat(`"a/**",`, int(p.Max)-1)
	return []string{`["src/**"]`, `["` + strings.Repeat("é", MaxGlob) + `"]`, "[" + many + `"b"]`}
}

// What the schema says of a constraint, the parser says too, of the same place.
func TestSchemaAndParserAgreeOnEveryKind(t *testing.T) {
	t.Parallel()
	tested := append(Kinds(), Kind{Name: "optional", Params: []Param{
		{Name: "limit", Type: Integer, Min: -3, Max: 3}, {Name: "among", Type: Globs, Min: 1, Max: 2}, {Name: "named", Type: Names, Min: 1, Max: 3},
		{Name: "whether", Type: Boolean}, {Name: "which", Type: Choice, Of: []string{"one", "other"}}, {Name: "max", Type: Integer, Required: true, Max: 9},
	}})
	schema := compileConstraints(t, tested)
	foreign := map[string]string{"nobody": `1`, "Kind": `"x"`, "a/b~c": `1`}
	for _, k := range tested {
		for _, p := range k.Params {
			foreign[p.Name] = rightValues(p)[0]
		}
	}
	for _, k := range tested {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			whole := map[string]string{} // every parameter, as it should be
			for _, p := range k.Params {
				whole[p.Name] = rightValues(p)[0]
			}
			agree := func(name string, with map[string]string, want ...string) {
				t.Helper()
				object := constraint(k.Name, with)
				bySchema, byParser := schemaPaths(t, schema, object), parserPaths(t, k, object)
				if !slices.Equal(bySchema, want) || !slices.Equal(byParser, want) {
					t.Errorf("%s: %.200s: the schema refuses %q, the parser %q, want %q", name, object, bySchema, byParser, want)
				}
			}
			agree("whole", whole)
			for name, value := range foreign {
				if _, own := whole[name]; !own {
					agree("foreign parameter", with(whole, name, value), "/"+pointerToken.Replace(name))
				}
			}
			var missing []string
			for _, p := range k.Params {
				if p.Required {
					missing = append(missing, "/"+p.Name)
					agree("missing "+p.Name, with(whole, p.Name, ""), "/"+p.Name)
				} else {
					agree("without "+p.Name, with(whole, p.Name, ""))
				}
				for _, value := range rightValues(p) {
					agree("a right "+p.Name, with(whole, p.Name, value))
				}
				for what, wrong := range wrongValues(p) {
					agree(what+" as "+p.Name, with(whole, p.Name, wrong.value), wrong.at)
				}
			}
			agree("nothing", nil, missing...)
			agree("all at once", map[string]string{"nobody": "1"}, slices.Sorted(slices.Values(append(missing, "/nobody")))...)
		})
	}
}

// with is the members with one replaced, or without it where value is "".
func with(members map[string]string, name, value string) map[string]string {
	out := map[string]string{name: value}
	for n, v := range members {
		if n != name {
			out[n] = v
		}
	}
	return out
}

func constraint(kind string, members map[string]string) string {
	text := `{"kind":` + quoted(kind)
	for name, value := range members {
		if value != "" {
			text += "," + quoted(name) + ":" + value
		}
	}
	return text + "}"
}

func compileConstraints(t *testing.T, kinds []Kind) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader("{" + constraintSchema(kinds) + "}"))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("urn:test", doc); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("urn:test#/constraint")
}

// schemaPaths lists the places a schema refuses, sorted.
func schemaPaths(t *testing.T, schema *jsonschema.Schema, object string) (paths []string) {
	t.Helper()
	tree, err := jsonschema.UnmarshalJSON(strings.NewReader(object))
	if err != nil {
		t.Fatal(err)
	}
	var collect func(*jsonschema.ValidationError)
	collect = func(e *jsonschema.ValidationError) {
		var at jsontext.Pointer
		for _, token := range e.InstanceLocation {
			at = at.AppendToken(token)
		}
		switch k := e.ErrorKind.(type) {
		case *kind.Required:
			for _, name := range k.Missing {
				paths = append(paths, string(at.AppendToken(name)))
			}
		case *kind.AdditionalProperties:
			for _, name := range k.Properties {
				paths = append(paths, string(at.AppendToken(name)))
			}
		default:
			if len(e.Causes) == 0 {
				paths = append(paths, string(at))
			}
		}
		for _, cause := range e.Causes {
			collect(cause)
		}
	}
	err = schema.Validate(tree)
	if bad, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		collect(bad)
	} else if err != nil {
		t.Fatal(err)
	}
	slices.Sort(paths)
	return paths
}

// parserPaths lists the places the parser of a kind refuses, sorted.
func parserPaths(t *testing.T, k Kind, object string) (paths []string) {
	t.Helper()
	_, err := k.decode(json.RawMessage(object))
	if bad, ok := errors.AsType[*ParamError](err); ok {
		for _, p := range *bad {
			paths = append(paths, p.Path)
		}
	} else if err != nil {
		t.Fatal(err)
	}
	slices.Sort(paths)
	return paths
}
