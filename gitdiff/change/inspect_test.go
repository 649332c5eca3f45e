package change

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
)

// inspected is what an inspection says of the work done in a box: code, class where there is one, path and grade.
func inspected(t *testing.T, base, work map[string]string) []string {
	t.Helper()
	files := map[string]string{"README": "a project\n"}
	maps.Copy(files, base)
	b := workbench.New(t, files)
	dir := b.Box(t)
	for name := range work {
		gitdifftest.Must(t, os.RemoveAll(filepath.Join(dir, name)))
	}
	gitdifftest.WriteFiles(t, dir, work)
	return inspect(t, b, capturedForDiff(t, b, dir))
}

func inspect(t *testing.T, b *workbench.Bench, tree string) []string {
	t.Helper()
	in, err := diffTo(t, b, tree).Inspect(t.Context(), 1000)
	gitdifftest.Must(t, err)
	var out []string
	for _, f := range in.Findings {
		what := string(f.Code)
		if f.Class != "" {
			what = f.Class
		}
		out = append(out, what+" "+f.Path+[]string{"", " (flaw)", " (refused)"}[f.Grade])
	}
	slices.Sort(out)
	return out
}

// spell is a path that a pattern of the table means, below a directory and in
// capitals where the pattern holds anywhere.
func spell(pattern string, below string) string {
	path := strings.TrimPrefix(pattern, "/")
	switch {
	case strings.HasPrefix(path, "*"):
		path = "any" + path[1:]
	case strings.HasSuffix(path, ".*"):
		path = strings.TrimSuffix(path, "*") + "any"
	case strings.HasSuffix(path, "/"):
		path += "file"
	}
	if !strings.HasPrefix(pattern, "/") {
		path = below + "/" + strings.ToUpper(path)
	}
	return path
}

func TestEveryPathOfTheTableHasItsClass(t *testing.T) {
	t.Parallel()
	listed := map[string]string{}
	for _, h := range Hazards {
		for _, o := range h.Obeyers {
			if o.Program == "" || o.Source == "" || len(o.Paths) == 0 {
				t.Errorf("class %s: %+v lacks its program, source or paths", h.Class, o)
			}
		}
		for _, p := range h.Paths() {
			if before, twice := listed[p]; twice {
				t.Errorf("%s is listed twice: %s and %s", p, before, h.Class)
			}
			listed[p] = h.Class
			if got := hazardOf(spell(p, "sub")); got == nil || got.Class != h.Class {
				t.Errorf("%s (%s) is of class %+v, want %s", p, spell(p, "sub"), got, h.Class)
			}
		}
	}
	for _, path := range []string{"src/main.go", "docs/hooks.md", "environment", "deep/hooks/useThing.ts", "a.b.c", "x.", ".", "webpack.configuration.js", "notaurl", "lib/gradle/x"} {
		if h := hazardOf(path); h != nil {
			t.Errorf("%s is of class %s", path, h.Class)
		}
	}
}

func TestInspectReportsPathsThatProgramsObey(t *testing.T) {
	t.Parallel()
	work := map[string]string{"src/main.go": "x\n"}
	var want []string
	for _, h := range Hazards {
		if h.Class == classModules { // has tests of its own
			continue
		}
		path := spell(h.Paths()[0], "sub")
		want = append(want, h.Class+" "+path+[]string{"", " (flaw)", " (refused)"}[h.Grade])
		work[path] = "x = 1\n"
	}
	slices.Sort(want)
	gitdifftest.Equal(t, "findings", inspected(t, nil, work), want)
}

// The table for people names every class, and the classes have one entry each.
func TestHazardsAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("HAZARDS.md")
	gitdifftest.Must(t, err)
	seen := map[string]bool{}
	for _, h := range Hazards {
		if seen[h.Class] || h.Why == "" || len(h.Obeyers) == 0 {
			t.Errorf("class %q is twice there or empty", h.Class)
		}
		seen[h.Class] = true
	}
	for _, extra := range []string{classNewModule, classModuleTrap, classRefused, classAttributes, classScripts, gitdiff.UnusualName} {
		seen[extra] = true
	}
	for class := range maps.Keys(seen) {
		if !strings.Contains(string(text), "| `"+class+"` |") {
			t.Errorf("HAZARDS.md has no row for %s", class)
		}
	}
}

func TestInspectJudgesContent(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		base, work map[string]string
		want       []string
	}{
		"a plain submodule": {nil, map[string]string{".gitmodules": "[submodule \"lib\"]\n\tpath = lib\n\turl = https://localhost/lib.git\n\tbranch = main\n"}, []string{"submodules .gitmodules"}},
		"an scp address":    {nil, map[string]string{".gitmodules": "[submodule \"lib\"]\r\n\tpath = lib\r\n\turl = git@localhost:lib.git\r\n"}, []string{"submodules .gitmodules"}},
		"what was there":    {map[string]string{".gitmodules": "[submodule \"a\"]\n\tpath = a\n\turl = -u./x\n"}, map[string]string{".gitmodules": "[submodule \"a\"]\n\tpath = a\n\turl = -u./x\n# more\n"}, []string{"submodules .gitmodules"}},
		"drivers": {map[string]string{".gitattributes": "*.a filter=old\n"}, map[string]string{".gitattributes": "*.a filter=old\n* text=auto eol=lf\n*.b filter=e\n*.js -diff\n*.c merge=union\n"},
			[]string{"attributes .gitattributes", "attributes .gitattributes"}},
		"a line git does not read": {nil, map[string]string{".gitattributes": strings.Repeat("x", 3000) + " text\n"}, []string{"oversize_file .gitattributes", "refused_by_git .gitattributes (refused)"}},
		"scripts": {map[string]string{"package.json": `{"scripts":{"test":"a","lint":"l"}}`}, map[string]string{"package.json": `{"scripts":{"test":"b","lint":"l","postinstall":"x"}}`},
			[]string{"package_scripts package.json", "package_scripts package.json"}},
		"a dependency":    {map[string]string{"package.json": `{"scripts":{"test":"a"}}`}, map[string]string{"package.json": `{"scripts":{"test":"a"},"dependencies":{"x":"1"}}`}, nil},
		"no json":         {nil, map[string]string{"package.json": `{"scripts":`}, []string{"package_scripts package.json"}},
		"turned text":     {map[string]string{"a.c": "int a;\n"}, map[string]string{"a.c": "int a;\n/* \u202e } \u2066if (x) */\n"}, []string{"bidi_text a.c (flaw)"}},
		"turned before":   {map[string]string{"a.c": "/* \u202e */\nint a;\n"}, map[string]string{"a.c": "/* \u202e */\nint b;\n"}, nil},
		"hidden text":     {nil, map[string]string{"a.c": "int a\u200bb;\n", "e": "\x1b[2Kok\n", "r": "evil\rfine\n", "tag": "x\U000e0041\n"}, []string{"invisible_text a.c", "invisible_text e", "invisible_text r", "invisible_text tag"}},
		"honest text":     {nil, map[string]string{"a": "\ufeffnaïve 日本 👩\u200d💻\r\n\tx\f\n", "latin": "na\xefve\n"}, nil},
		"a NUL byte":      {nil, map[string]string{"a.sh": "echo ok\n# \x00\necho \u202e evil\n"}, []string{"bidi_text a.sh (flaw)", "invisible_text a.sh"}},
		"a NUL of before": {map[string]string{"a.sh": "x\n\x00\n"}, map[string]string{"a.sh": "y\n\x00\n"}, nil},
		"UTF-16":          {nil, map[string]string{"a.c": "\xff\xfei\x00n\x00t\x00 \x00a\x00;\x00\n\x00\x2e\x20\n\x00", "be": "\xfe\xff\x00a\x00\n", "bare": "a\x00b\x00\n\x00"}, []string{"bidi_text a.c (flaw)", "invisible_text a.c", "invisible_text bare", "invisible_text be"}},
		"UTF-32":          {nil, map[string]string{"a.c": "\xff\xfe\x00\x00a\x00\x00\x00\n\x00\x00\x00"}, []string{"invisible_text a.c"}},
		"a program":       {nil, map[string]string{"p": "\x7fELF\x02\x01\x01\x00\x00\x00\x90\x91\x92\x93\x81\x82\xf0\x01\x02\x03", "zeros": "\x00\x00\x00"}, nil},
		"large":           {nil, map[string]string{"a": strings.Repeat("x", 1001), "b": strings.Repeat("x", 1000)}, []string{"oversize_file a"}},
		"hazards that go": {map[string]string{"Makefile": "x\n", "AGENTS.md": "x\n"}, map[string]string{"n": "n\n"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gitdifftest.Equal(t, "findings", inspected(t, tc.base, tc.work), tc.want)
		})
	}
}

func TestInspectRefusesModulesThatAttack(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"option":          "[submodule \"a\"]\n\tpath = a\n\turl = -u./x\n",
		"option as host":  "[submodule \"a\"]\n\tpath = a\n\turl = ssh://-oProxyCommand=x/y\n",
		"helper":          "[submodule \"a\"]\n\tpath = a\n\turl = ext::sh -c x\n",
		"unknown":         "[submodule \"a\"]\n\tpath = a\n\turl = evil://x\n",
		"newline in host": "[submodule \"a\"]\n\tpath = a\n\turl = https://localhost%0ahost=x/y\n",
		"CR in path":      "[submodule \"a\"]\n\tpath = \"a\r\"\n\turl = ./x\n",
		"double CR":       "[submodule \"a\"]\n\tpath = a\r\r\n\turl = ./x\n",
		"option as path":  "[submodule \"a\"]\n\tpath = -a\n\turl = ./x\n",
		"out of the tree": "[submodule \"a\"]\n\tpath = ../a\n\turl = ./x\n",
		"into .git":       "[submodule \"a\"]\n\tpath = .GIT/hooks\n\turl = ./x\n",
		"name goes up":    "[submodule \"../../x\"]\n\tpath = a\n\turl = ./x\n",
		"program":         "[submodule \"a\"]\n\tpath = a\n\turl = ./x\n\tupdate = !touch x\n",
		"not to be read":  "[submodule \"a\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := inspected(t, nil, map[string]string{".gitmodules": text})
			if !slices.Contains(got, "submodule_attack .gitmodules (refused)") {
				t.Errorf("findings = %q", got)
			}
		})
	}
}

func TestInspectFollowsLinks(t *testing.T) {
	t.Parallel()
	base := map[string]string{"d/e/f": "x\n", "in": "-> d/e"}
	for name, tc := range map[string]struct {
		work map[string]string
		want []string
	}{
		"inside":                    {map[string]string{"l": "-> d/e/f", "d/l": "-> ../d/./e", "d/e/l": "-> ../../in/f", "root": "-> .", "x": "-> d/../d/e"}, nil},
		"nowhere and itself":        {map[string]string{"l": "-> gone/file", "self": "-> self", "a": "-> b", "b": "-> a"}, nil},
		"absolute":                  {map[string]string{"l": "-> /etc/shadow", "w": `-> \\host\x`, "c": "-> C:x"}, []string{"symlink_escapes c (refused)", "symlink_escapes l (refused)", "symlink_escapes w (refused)"}},
		"up":                        {map[string]string{"l": "-> ..", "d/l": "-> ../../x"}, []string{"symlink_escapes d/l (refused)", "symlink_escapes l (refused)"}},
		"into .git":                 {map[string]string{"l": "-> .git/config", "d/l": "-> ../.GIT"}, []string{"symlink_escapes d/l (refused)", "symlink_escapes l (refused)"}},
		"up through another":        {map[string]string{"d/e/up": "-> ../..", "l": "-> d/e/up/../x"}, []string{"symlink_escapes l (refused)"}},
		"in another spelling":       {map[string]string{"d/e/up": "-> ../..", "l": "-> D/E/UP/../x"}, []string{"symlink_escapes l (refused)"}},
		"inside through another":    {map[string]string{"l": "-> in/../e/f"}, nil},
		"up from what is not there": {map[string]string{"l": "-> node_modules/../x"}, []string{"symlink_escapes l (refused)"}},
		"a long way": {map[string]string{"l": "-> " + strings.Repeat("./", 2000) + "l2", "l2": "-> " + strings.Repeat("./", 2000) + "l3", "l3": "-> d/" + strings.Repeat("./", 2000) + "../..",
			"k": "-> " + strings.Repeat("./", 2000) + "l", "k2": "-> " + strings.Repeat("./", 2000) + "k", "k3": "-> " + strings.Repeat("./", 2000) + "k2", "k4": "-> " + strings.Repeat("./", 2000) + "k3"},
			[]string{"symlink_escapes k (refused)", "symlink_escapes k2 (refused)", "symlink_escapes k3 (refused)", "symlink_escapes k4 (refused)", "symlink_escapes l (refused)", "symlink_escapes l2 (refused)", "symlink_escapes l3 (refused)"}},
		"a chain": {map[string]string{"a": "-> b", "b": "-> c", "c": "-> d/../.."}, []string{"symlink_escapes a (refused)", "symlink_escapes b (refused)", "symlink_escapes c (refused)"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gitdifftest.Equal(t, "findings", inspected(t, base, tc.work), tc.want)
		})
	}
}

// A flood of harmless findings hides none that matters.
func TestInspectKeepsTheFirstOfEveryKind(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{"a": "a\n"})
	dir := b.Box(t)
	for i := range 2 * maxInspected {
		gitdifftest.WriteFiles(t, dir, map[string]string{".vscode/" + strings.Repeat("x", i/200+1) + string(rune('a'+i%26)) + strings.Repeat("y", i%200): "x\n"})
	}
	gitdifftest.WriteFiles(t, dir, map[string]string{"zz": "-> /etc"})
	in, err := diffTo(t, b, capturedForDiff(t, b, dir)).Inspect(t.Context(), 0)
	gitdifftest.Must(t, err)
	if in.Findings[0].Code != gitdiff.SymlinkEscapes || len(in.Findings) != maxInspected+1 || in.Dropped == 0 {
		t.Errorf("%d findings, %d dropped, first %v", len(in.Findings), in.Dropped, in.Findings[0])
	}
}
