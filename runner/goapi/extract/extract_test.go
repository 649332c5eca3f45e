package extract

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandboxrun/runner/goapi"
)

// surface extracts from files as the hidden command does.
func surface(t *testing.T, files map[string]string) *goapi.Surface {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if code := Main(dir, &out); code != 0 {
		t.Fatalf("exit %d", code)
	}
	s, err := goapi.Read(&out)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const library = `package lib

import (
	"errors"
	"io"
	"net/http"

	"example.com/m/other"
)

const Size = 1 << 10

const Name = "x"

var ErrOne = errors.New("one")

var Table = map[string]int{"a": 1}

var Client = &http.Client{}

type Options struct {
	Name   string ` + "`json:\"name\"`" + `
	Limit  int
	Reader io.Reader
	hidden int
}

type Shape interface {
	Area() float64
	Scale(by float64) Shape
}

type Closed interface {
	Do()
	closed()
}

type ID string

type Alias = other.Thing

type Pair[K comparable, V any] struct {
	Key K
	Val V
}

type impl struct{ base }

type base struct{ Depth int }

func (base) Base() {}

func (i *impl) Run(n int) error { return nil }

func New(name string, limit int) *impl { return nil }

func Copy(dst, src string, n int) (written int, err error) { return 0, nil }

func Each[T any](list []T, do func(T) error) {}

func Handle(w http.ResponseWriter, r *http.Request) {}

func (o Options) With(r io.Reader) Options { return o }

func helper(a int) int { return a }
`

// What callers of Go notice, and what they do not.
func TestWhatCallersNotice(t *testing.T) {
	t.Parallel()
	base := map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.24\n", "lib.go": library, "other/other.go": "package other\n\ntype Thing struct{ A int }\n", "cmd/x/main.go": "package main\n\nfunc Exported() {}\n",
		"internal/in/in.go": "package in\n\nfunc In() {}\n", "lib_test.go": "package lib\n\nfunc TestHelper() {}\n", "testdata/x.go": "package x\n\nfunc X() {}\n",
		"lib_windows.go": "package lib\n\nfunc Windows() {}\n",
	}
	was := surface(t, base)
	if len(was.Problems) > 0 || len(was.Excluded) != 1 {
		t.Fatalf("problems %q, excluded %q", was.Problems, was.Excluded)
	}
	const m = "example.com/m."
	lib := func(pairs ...string) map[string]string {
		return map[string]string{"lib.go": strings.NewReplacer(pairs...).Replace(library)}
	}
	for name, tt := range map[string]struct {
		change     map[string]string // "" removes a file
		signature  string            // names that differ at this level
		compatible string
		additions  string // further names, where additions count
	}{
		"bodies":                           {change: lib("return a", "return a + 1", "return 0, nil", "return 1, nil")},
		"comments and order":               {change: lib("const Size = 1 << 10\n", "", "func helper", "// Size is one.\nconst Size = 1024\n\nfunc helper")},
		"private things":                   {change: lib("hidden int", "hidden string", "func helper(a int) int", "func helper(b string) int")},
		"another file":                     {change: map[string]string{"lib.go": strings.Replace(library, "type ID string\n", "", 1), "id.go": "package lib\n\ntype ID string\n"}},
		"what is no public package":        {change: map[string]string{"cmd/x/main.go": "package main\n", "internal/in/in.go": "package in\n", "testdata/x.go": "", "lib_test.go": ""}},
		"another import name":              {change: lib("\"io\"", "stdio \"io\"", "io.Reader", "stdio.Reader")},
		"a removed function":               {change: lib("func Copy(dst, src string, n int) (written int, err error) { return 0, nil }", ""), signature: "Copy", compatible: "Copy"},
		"swapped parameters":               {change: lib("dst, src string", "src, dst string"), signature: "Copy", compatible: "Copy"},
		"a renamed parameter":              {change: lib("n int)", "count int)"), signature: "Copy impl.Run"},
		"another type":                     {change: lib("n int) (written", "n int64) (written"), signature: "Copy", compatible: "Copy"},
		"an optional parameter":            {change: lib("limit int)", "limit int, more ...string)"), signature: "New", compatible: "New"},
		"another error result":             {change: lib("(written int, err error)", "(written int)"), signature: "Copy", compatible: "Copy"},
		"another inferred type":            {change: lib("map[string]int{\"a\": 1}", "map[string]int64{\"a\": 1}"), signature: "Table", compatible: "Table"},
		"another inferred pointer":         {change: lib("&http.Client{}", "http.Client{}"), signature: "Client", compatible: "Client"},
		"another constant":                 {change: lib("1 << 10", "1 << 11"), signature: "Size", compatible: "Size"},
		"a constant's type":                {change: lib("const Name = ", "const Name ID = "), signature: "Name", compatible: "Name"},
		"another initial error":            {change: lib(`errors.New("one")`, `io.EOF`), signature: "ErrOne", compatible: "ErrOne"},
		"a removed field":                  {change: lib("\tLimit  int\n", ""), signature: "Options.Limit", compatible: "Options.Limit"},
		"a field's type":                   {change: lib("Reader io.Reader", "Reader io.Writer"), signature: "Options.Reader", compatible: "Options.Reader"},
		"another tag":                      {change: lib("`json:\"name\"`", "`json:\"title\"`"), signature: "Options.Name", compatible: "Options.Name"},
		"a further tag":                    {change: lib("`json:\"name\"`", "`json:\"name\" yaml:\"name\"`")},
		"a struct that cannot be compared": {change: lib("hidden int", "hidden []int"), signature: "Options", compatible: "Options"},
		"a receiver of pointers":           {change: lib("func (o Options) With", "func (o *Options) With"), signature: "Options.With", compatible: "Options.With"},
		"a receiver of values":             {change: lib("func (i *impl) Run", "func (i impl) Run"), signature: "impl.Run"},
		"a method of what New returns":     {change: lib("Run(n int) error { return nil }", "Run(n int, f float64) error { return nil }"), signature: "impl.Run", compatible: "impl.Run"},
		"a promoted method":                {change: lib("type impl struct{ base }", "type impl struct{}"), signature: "impl.Base impl.Depth", compatible: "impl.Base impl.Depth"},
		"a required method":                {change: lib("Area() float64", "Area() float64\n\tName() string"), signature: "Shape.Name", compatible: "Shape.Name"},
		"a method nobody implements":       {change: lib("\tDo()", "\tDo()\n\tUndo()"), additions: "Closed.Undo"},
		"a dropped method":                 {change: lib("\tArea() float64\n", ""), signature: "Shape.Area", compatible: "Shape.Area"},
		"another constraint":               {change: lib("K comparable, V any", "K comparable, V comparable"), signature: "Pair", compatible: "Pair"},
		"another function constraint":      {change: lib("Each[T any]", "Each[T comparable]"), signature: "Each", compatible: "Each"},
		"a type becomes an alias":          {change: lib("type ID string", "type ID = string"), signature: "ID", compatible: "ID"},
		"another underlying type":          {change: lib("type ID string", "type ID int"), signature: "ID", compatible: "ID"},
		"another alias":                    {change: lib("= other.Thing", "= io.Reader"), signature: "Alias", compatible: "Alias"},
		"a type elsewhere":                 {change: map[string]string{"other/other.go": "package other\n\ntype Thing struct{ A string }\n"}, signature: "/other.Thing.A", compatible: "/other.Thing.A"},
		"a moved package":                  {change: map[string]string{"other/other.go": "", "another/other.go": base["other/other.go"]}, signature: "/other.Thing /other.Thing.A", compatible: "/other.Thing /other.Thing.A", additions: "/another.Thing /another.Thing.A"},
		"another module path":              {change: map[string]string{"go.mod": "module example.com/n\n"}, signature: "*", compatible: "*", additions: "*"},
		"a function for other systems":     {change: map[string]string{"lib.go": strings.Replace(library, "package lib", "//go:build windows\n\npackage lib", 1)}, signature: "*", compatible: "*"},
		"a new function":                   {change: map[string]string{"new.go": "package lib\n\nfunc Fresh() {}\n"}, additions: "Fresh"},
		"a new field":                      {change: lib("Limit  int", "Limit  int\n\tMore int"), additions: "Options.More"},
	} {
		files := map[string]string{}
		maps.Copy(files, base)
		for name, text := range tt.change {
			if files[name] = text; text == "" {
				delete(files, name)
			}
		}
		now := surface(t, files)
		if len(now.Problems) > 0 {
			t.Errorf("%s: problems %q", name, now.Problems)
		}
		for level, want := range map[goapi.Level]string{goapi.Signature: tt.signature, goapi.Compatible: tt.compatible} {
			for _, additions := range []bool{true, false} {
				var got []string
				for _, c := range goapi.Compare(was, now, level, additions, func(string, goapi.Entry) bool { return true }) {
					short := strings.TrimPrefix(c.Name, m)
					got = append(got, strings.TrimPrefix(short, "example.com/m"))
				}
				all := want
				if !additions {
					all = strings.TrimSpace(want + " " + tt.additions)
				}
				if strings.HasPrefix(all, "*") && len(got) > 10 {
					continue
				}
				if strings.Join(got, " ") != all {
					t.Errorf("%s at level %s, additions %t: %q, want %q", name, level, additions, strings.Join(got, " "), all)
				}
			}
		}
	}
}

func TestSourceThatIsNotUnderstoodIsTold(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"no syntax":    {"a.go": "package a\n\nfunc {"},
		"two packages": {"a.go": "package a\n", "b.go": "package b\n"},
		"a huge file":  {"a.go": "package a\n//" + strings.Repeat("x", maxFile)},
		"deep nesting": {"a.go": "package a\n\nvar A = " + strings.Repeat("(", 200_000) + "1" + strings.Repeat(")", 200_000)},
		"a bad module": {"go.mod": "nonsense\n", "a.go": "package a\n"},
	} {
		if s := surface(t, files); len(s.Problems) == 0 {
			t.Errorf("%s: nothing is told", name)
		}
	}
	began := time.Now()
	s := surface(t, map[string]string{"go.mod": "module m\n", "a/a.go": "package a\n\nimport \"m/b\"\n\ntype A struct{ B b.B }\n", "b/b.go": "package b\n\nimport \"m/a\"\n\ntype B struct{ A a.A; Self *B }\n", "c.go": "package c\n\ntype T T2\n\ntype T2 T\n\ntype R struct{ R }\n"})
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("cycles took %s", took)
	}
	if _, ok := s.Entries["m/b.B.A"]; !ok {
		t.Errorf("entries %v", s.Entries)
	}
}
