package check

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"sandboxrun/gitdiff/change"
	"sandboxrun/runner/goapi"
	"sandboxrun/runner/harness"
)

func init() {
	register(Kind{
		Name: "public_api",
		Help: "What callers have of the public packages stays: declared and inferred types, names and order of parameters, fields, methods, constants. Go is measured, in the default build; a change of sources in another language is unverifiable.",
		Params: []Param{
			{Name: "level", Help: "signature (the default): nothing that a declaration shows changes; compatible: callers still build and still pass what they mean to.", Type: Choice, Of: []string{string(goapi.Signature), string(goapi.Compatible)}},
			{Name: "additions", Help: "New names may be added (default true). A new method of an interface that others can implement is never only an addition.", Type: Boolean},
			{Name: "only", Help: "Globs of directories, or names such as Client.Do, that count; all by default.", Type: Globs, Min: 1, Max: 500},
			{Name: "except", Help: "Globs of directories, or names, that do not count.", Type: Globs, Min: 1, Max: 500},
		},
	}, func(v values) Check {
		return publicAPI{goapi.Level(v.choice("level", string(goapi.Signature))), v.boolean("additions", true), v.globs("only"), v.globs("except")}
	})
}

// GoAPI is what an extractor found in both trees of Go sources.
type GoAPI struct {
	Base, Captured *goapi.Surface
	Missing        string // why there is nothing, "" where there is
}

// publicAPI compares the surfaces that extractors found.
type publicAPI struct {
	level        goapi.Level
	additions    bool
	only, except globs
}

// NeedsGoAPI says that a check needs the Go API of both trees to judge these changes.
func NeedsGoAPI(c Check, changes []change.Change) bool {
	p, api := c.(publicAPI)
	if _, logs := c.(logFormat); !api && !logs {
		return false
	}
	for i := range changes {
		if l := p.language(changes[i].Name); l == "Go" || changes[i].OldName != "" && p.language(changes[i].OldName) == "Go" {
			return true
		}
	}
	return false
}

// languages are those of sources that can have a public API, by extension. Headers, declarations and manifests with entry points count.
var languages = map[string]string{
	".go": "Go", ".js": "JavaScript", ".mjs": "JavaScript", ".cjs": "JavaScript", ".jsx": "JavaScript", ".ts": "TypeScript", ".mts": "TypeScript", ".cts": "TypeScript", ".tsx": "TypeScript",
	".vue": "Vue", ".svelte": "Svelte", ".py": "Python", ".pyi": "Python", ".pyx": "Python", ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".cxx": "C++", ".hpp": "C++", ".hh": "C++", ".rs": "Rust",
	".java": "Java", ".kt": "Kotlin", ".scala": "Scala", ".groovy": "Groovy", ".cs": "C#", ".fs": "F#", ".vb": "Visual Basic", ".rb": "Ruby", ".php": "PHP", ".swift": "Swift", ".m": "Objective-C",
	".ex": "Elixir", ".erl": "Erlang", ".hs": "Haskell", ".ml": "OCaml", ".mli": "OCaml", ".clj": "Clojure", ".dart": "Dart", ".lua": "Lua", ".pl": "Perl", ".pm": "Perl", ".r": "R", ".jl": "Julia",
	".zig": "Zig", ".nim": "Nim", ".d": "D", ".sol": "Solidity", ".proto": "Protocol Buffers", ".graphql": "GraphQL", ".thrift": "Thrift", ".sh": "shell", ".sql": "SQL",
}

// language is that of a source whose change can be one of the public API, "" for other files.
func (c publicAPI) language(name string) string {
	switch path.Base(name) {
	case "go.mod":
		return "Go"
	case "package.json": // names entry points
		return "JavaScript"
	}
	l := languages[strings.ToLower(path.Ext(name))]
	if l == "Go" && strings.HasSuffix(name, "_test.go") || l != "Go" && harness.RoleOf(name) != harness.Product {
		return ""
	}
	return l
}

// counts says that an entry counts by its directory or its name.
func (c publicAPI) counts(name string, e goapi.Entry) bool {
	_, short, _ := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ".")
	named := func(g globs) bool {
		return g.permit(e.Dir) || e.Dir != "." && g.permit(e.Dir+"/x") || g.permit(short) || g.permit(name)
	}
	return (len(c.only) == 0 || named(c.only)) && !named(c.except)
}

// countsFile says that a source file counts by its directory.
func (c publicAPI) countsFile(name string) bool {
	dir := path.Dir(name)
	in := func(g globs) bool { return g.permit(dir) || g.permit(name) }
	return (len(c.only) == 0 || in(c.only)) && !in(c.except)
}

func (c publicAPI) Check(_ context.Context, e Evidence) (Verdict, error) {
	var others, sources []string
	goes := false
	for _, name := range names(e) {
		switch l := c.language(name); {
		case l == "Go":
			goes = true
			sources = append(sources, name)
		case l != "" && c.countsFile(name):
			others = append(others, name)
		}
	}
	v := Verdict{Verdict: Pass, Evidence: "no source of a public package changed"}
	if goes {
		v = c.judgeGo(e.GoAPI, sources)
	}
	if len(others) > 0 && v.Verdict != Fail {
		return clipped(Unverifiable, "the public API of "+c.language(others[0])+" is not measured by this version; compare it by a command, or limit the constraint with only", others), nil
	}
	return v, nil
}

func (c publicAPI) judgeGo(api *GoAPI, sources []string) Verdict {
	if v, ok := api.usable(); !ok {
		return v
	}
	if found := goapi.Compare(api.Base, api.Captured, c.level, c.additions, c.counts); len(found) > 0 {
		var texts []string
		for _, f := range found {
			texts = append(texts, fmt.Sprintf("%s %s", clip(f.Name), f.What))
		}
		return Verdict{Verdict: Fail, Evidence: "the public API changed: " + listed(texts)}
	}
	var excluded []string
	for _, name := range sources {
		if c.countsFile(name) && (slices.Contains(api.Base.Excluded, name) || slices.Contains(api.Captured.Excluded, name)) {
			excluded = append(excluded, name)
		}
	}
	if len(excluded) > 0 {
		return clipped(Unverifiable, "only the default build is measured, which leaves these out", excluded)
	}
	n := len(api.Captured.Entries)
	return Verdict{Verdict: Pass, Evidence: fmt.Sprintf("the %d names that callers have of %d Go packages are as before (level %s)", n, api.Captured.Packages, c.level)}
}
