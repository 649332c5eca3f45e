package change

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
)

func TestHighlightsNameTheTouchedSections(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file, old, new string
		want           []string
	}{
		"go edit": {"a.go", "package a\n\nfunc A() {\n\tx()\n}\n\nfunc B(i int) error {\n\ty()\n}\n", "package a\n\nfunc A() {\n\tx()\n}\n\nfunc B(i int) error {\n\tz()\n}\n",
			[]string{"func B(i int) error"}},
		"go insert between": {"a.go", "package a\n\nfunc A() {\n\tx()\n}\n\nfunc C() {\n\ty()\n}\n", "package a\n\nfunc A() {\n\tx()\n}\n\nfunc B() {\n\tz()\n}\n\nfunc C() {\n\ty()\n}\n",
			[]string{"func B()"}},
		"go removal": {"a.go", "package a\n\nfunc A() {\n}\n\nfunc B() {\n}\n", "package a\n\nfunc A() {\n}\n", []string{"func B()"}},
		"python":     {"a.py", "class K:\n    def f(self):\n        return 1\n    def g(self):\n        return 2\n", "class K:\n    def f(self):\n        return 3\n    def g(self):\n        return 2\n", []string{"def f(self)"}},
		"javascript": {"a.ts", "export const f = async (x) => {\n  return 1\n}\n", "export const f = async (x) => {\n  return 2\n}\n", []string{"export const f = async (x) =>"}},
		"rust":       {"a.rs", "pub(crate) fn f() {\n    1\n}\n", "pub(crate) fn f() {\n    2\n}\n", []string{"pub(crate) fn f()"}},
		"java":       {"A.java", "public class A {\n    private int f(int x) {\n        return 1;\n    }\n}\n", "public class A {\n    private int f(int x) {\n        return 2;\n    }\n}\n", []string{"private int f(int x)"}},
		"markdown":   {"R.md", "# A\ntext\n## B\nold\n", "# A\ntext\n## B\nnew\n", []string{"## B"}},
		"c":          {"a.c", "int main(int argc)\n{\n  return 1;\n}\n", "int main(int argc)\n{\n  return 2;\n}\n", []string{"int main(int argc)"}},
		"shell":      {"a.sh", "go() {\n  a\n}\n", "go() {\n  b\n}\n", []string{"go()"}},
		"yaml":       {"a.yml", "jobs:\n  a: 1\n", "jobs:\n  a: 2\n", []string{"jobs"}},
		"make":       {"Makefile", "all: x\n\ta\n", "all: x\n\tb\n", []string{"all: x"}},
		"default":    {"a.foo", "_start here\n  x\n", "_start here\n  y\n", []string{"_start here"}},
		"data":       {"a.json", "{\n\"a\": 1\n}\n", "{\n\"a\": 2\n}\n", nil},
		"added":      {"a.go", "", "package a\n\nfunc A() {}\n", []string{"package a", "func A() {}"}},
		"deleted":    {"a.py", "def a(): pass\n", "", []string{"def a(): pass"}},
		"hostile":    {"a.md", "# \x1b[2Jx\u202e y\xff\nold\n", "# \x1b[2Jx\u202e y\xff\nnew\n", []string{`# \u001b[2Jx\u202e y\xff`}},
		"binary":     {"a.go", "func A\n\x00", "func A\n\x00\x01", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := workbench.New(t, map[string]string{"other": "o\n"})
			dirs := map[string]string{}
			for side, text := range map[string]string{"old": tc.old, "new": tc.new} {
				dir := t.TempDir()
				if text != "" {
					gitdifftest.Must(t, os.WriteFile(filepath.Join(dir, tc.file), []byte(text), 0o644))
				}
				dirs[side] = capturedForDiff(t, b, dir)
			}
			d, err := Compare(t.Context(), b.Objects, dirs["old"], dirs["new"])
			gitdifftest.Must(t, err)
			gitdifftest.Equal(t, "highlights", d.Changes[0].Highlights, tc.want)
		})
	}
}

func TestHighlightsAreFewAndShort(t *testing.T) {
	t.Parallel()
	var was, now strings.Builder
	for i := range 100 {
		fmt.Fprintf(&was, "func F%d(%s) {\n\ta\n}\n", i, strings.Repeat("x", 1000))
		fmt.Fprintf(&now, "func F%d(%s) {\n\tb\n}\n", i, strings.Repeat("x", 1000))
	}
	e := compareLines(was.String(), now.String(), compareLimit)
	c := newChange("a.go", side{mode: regular}, side{mode: regular})
	got := highlights(&c, e)
	if len(got) != maxHighlights {
		t.Errorf("%d highlights", len(got))
	}
	for _, h := range got {
		if n := len([]rune(h)); n > maxHighlight+1 {
			t.Errorf("highlight of %d runes", n)
		}
	}
}
