package document

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sandboxrun/schemas"
	"sandboxrun/scripts/marked"
)

var updateIssues = flag.Bool("update", false, "write the table of issue codes anew")

var issueTable = marked.Part{
	Begin: "<!-- issue codes: made from runner/document/issues.go by go test ./runner/document -run TestIssueCodes -update -->",
	End:   "<!-- end of the issue codes -->",
}

func TestIssueCodesAreDocumented(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("| code | type | severity | meaning | what to do |\n|---|---|---|---|---|\n")
	for _, k := range issueKinds {
		var severities []string
		for _, s := range k.Severities {
			severities = append(severities, s.String())
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s |\n", k.Code, k.Type, strings.Join(severities, ", "), k.Meaning, strings.ReplaceAll(k.Action, "|", `\|`))
	}
	if err := issueTable.Update("../../docs/issue-codes.md", b.String(), !*updateIssues); err != nil {
		t.Errorf("%v; run the test with -update", err)
	}
}

func TestIssueCodesAreThoseOfTheSchema(t *testing.T) {
	t.Parallel()
	var result map[string]any
	if err := json.Unmarshal(schemas.Result(), &result); err != nil {
		t.Fatal(err)
	}
	code := result
	for _, key := range []string{"properties", "issues", "items", "properties", "code"} {
		code = code[key].(map[string]any)
	}
	var listed, known []string
	for _, c := range code["anyOf"].([]any)[0].(map[string]any)["enum"].([]any) {
		listed = append(listed, c.(string))
	}
	for _, k := range issueKinds {
		if k.Meaning == "" || k.Action == "" || len(k.Severities) == 0 {
			t.Errorf("%s: an issue needs a severity, a meaning and an action", k.Code)
		}
		if slices.Contains(known, k.Code) {
			t.Errorf("%s is in the table twice", k.Code)
		}
		known = append(known, k.Code)
	}
	slices.Sort(listed)
	slices.Sort(known)
	if !slices.Equal(listed, known) {
		t.Errorf("the schema lists %v, the table %v", listed, known)
	}
}

// Adapters and the capture name codes of their own, and cannot import the table.
func TestIssueCodesOfOtherRoomsAreInTheTable(t *testing.T) {
	t.Parallel()
	codes := append(stringConstants(t, "../../agents", func(_, value string) bool { return strings.HasPrefix(value, "agent_") }),
		stringConstants(t, "../../gitdiff", func(kind, _ string) bool { return kind == "Code" })...)
	for _, want := range []string{CodeAgentAuth, CodeSymlinkEscapes, CodeBidiText} {
		if !slices.Contains(codes, want) {
			t.Errorf("code %s was not found where it is defined: the search is wrong", want)
		}
	}
	for _, c := range codes {
		if !slices.ContainsFunc(issueKinds, func(k IssueKind) bool { return k.Code == c }) {
			t.Errorf("code %s is not in the table", c)
		}
	}
}

// stringConstants lists the values of the string constants below a folder whose
// declared type and value are wanted.
func stringConstants(t *testing.T, root string, wanted func(kind, value string) bool) (values []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(gotoken.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			kind := ""
			switch typ := spec.Type.(type) {
			case *ast.Ident:
				kind = typ.Name
			case *ast.SelectorExpr:
				kind = typ.Sel.Name
			}
			for _, value := range spec.Values {
				lit, ok := value.(*ast.BasicLit)
				if !ok || lit.Kind != gotoken.STRING {
					continue
				}
				if text, err := strconv.Unquote(lit.Value); err == nil && wanted(kind, text) {
					values = append(values, text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return values
}
