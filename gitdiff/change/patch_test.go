package change

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"

	"pgregory.net/rapid"
)

// applied applies the patch of a diff with the real git, and returns the tree it makes.
func applied(t testing.TB, b *workbench.Bench, d *Diff) string {
	t.Helper()
	return b.Applied(t, d.From, func(w io.Writer) error { return d.WritePatch(t.Context(), w) })
}

var awkwardNames = []string{
	"plain", "with space", " lead", "trail ", "tab\there", "new\nline", `quote"d`, `back\slash`, "umlaut-\u00e4", "bad\xff", "-dash", "a/b", "a/b c/d\te",
	"--- a/x", "ends\r", "\x1b[31mred",
}

var awkwardTexts = []string{
	"", "one", "one\n", "one\ntwo\nthree\n", "one\ntwo", "\n\n\n", "crlf\r\nlines\r\n", "bin\x00ary", "\xff\xfe not utf-8\n", "a\rb\rc\n",
	strings.Repeat("same\n", 40), strings.Repeat("same\n", 20) + "other\n" + strings.Repeat("same\n", 20), strings.Repeat("\x00\x01\xff", 1000),
	"-- a\n++ b\n@@ -1 +1 @@\n", "\\ No newline at end of file\n", "diff --git a/x b/x\n",
}

// drawTree makes a random tree below a fresh directory.
func drawTree(t *testing.T, rt *rapid.T, label string) string {
	dir := t.TempDir()
	for i := range rapid.IntRange(0, 6).Draw(rt, label+" files") {
		l := label + string(rune('0'+i))
		path := filepath.Join(dir, rapid.SampledFrom(awkwardNames).Draw(rt, l+" name"))
		if os.MkdirAll(filepath.Dir(path), 0o755) != nil || os.RemoveAll(path) != nil {
			continue
		}
		text := rapid.SampledFrom(awkwardTexts).Draw(rt, l+" text")
		if rapid.IntRange(0, 4).Draw(rt, l+" link") == 0 {
			gitdifftest.Must(t, os.Symlink("t"+strings.ReplaceAll(text[:min(len(text), 50)], "\x00", ""), path))
			continue
		}
		if rapid.Bool().Draw(rt, l+" edited") {
			text += rapid.StringMatching(`([ab]\n){0,9}[ab]?`).Draw(rt, l+" more")
		}
		mode := rapid.SampledFrom([]os.FileMode{0o644, 0o755}).Draw(rt, l+" mode")
		gitdifftest.Must(t, os.WriteFile(path, []byte(text), mode))
	}
	return dir
}

// The patch of any two trees applies to the first with git and gives the second, to the byte.
func TestPatchAppliesAndGivesTheTree(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, nil)
	rapid.Check(t, func(rt *rapid.T) {
		from, to := capturedForDiff(t, b, drawTree(t, rt, "old")), capturedForDiff(t, b, drawTree(t, rt, "new"))
		b.LendObjects(t)
		d, err := Compare(t.Context(), b.Objects, from, to)
		gitdifftest.Must(t, err)
		if got := applied(t, b, d); got != to {
			rt.Errorf("git apply gives %s, want %s: %s", got, to, b.Git(t, "diff", "--raw", to, got))
		}
	})
}

// Lines are counted as git diff --numstat counts them, whatever the attributes in the tree say (T14).
func TestDiffCountsWhatGitCounts(t *testing.T) {
	t.Parallel()
	code := "package a\n\nfunc A() {\n\tone()\n}\n\nfunc B() {\n\ttwo()\n}\n"
	b := workbench.New(t, map[string]string{
		"insert.go": code, "edit.go": code, "gone.txt": "1\n2\n3\n", "bin": "\x00", "noeol": "a\nb", "mode.sh": "x\n", "crlf": "a\r\nb\r\n",
		".gitattributes": "*.go binary\n", "moved": strings.Repeat("line\n", 3) + "end\n", "rewritten": strings.Repeat("a\n", 50),
	})
	dir := b.Box(t)
	gitdifftest.WriteFiles(t, dir, map[string]string{
		"insert.go": strings.Replace(code, "func B", "func C() {\n\tthree()\n}\n\nfunc B", 1), "edit.go": strings.Replace(code, "two", "deux", 1),
		"bin": "\x00\x01", "noeol": "a\nb\n", "crlf": "a\nb\n", "new": "1\n2", "empty": "", "rewritten": strings.Repeat("b\n", 70), "img": "GIF\x00",
	})
	gitdifftest.Must(t, os.Remove(filepath.Join(dir, "gone.txt")))
	gitdifftest.Must(t, os.Rename(filepath.Join(dir, "moved"), filepath.Join(dir, "elsewhere")))
	gitdifftest.Must(t, os.Chmod(filepath.Join(dir, "mode.sh"), 0o755))
	tree := capturedForDiff(t, b, dir)
	d := diffTo(t, b, tree)
	b.LendObjects(t)
	gitdifftest.Must(t, os.WriteFile(filepath.Join(b.Dir, ".git/info/attributes"), []byte("* !diff !text\n"), 0o644))
	want := b.Git(t, "diff", "--numstat", "--no-renames", "HEAD", tree)
	var got []string
	for _, c := range d.Changes {
		got = append(got, numstat(c))
	}
	gitdifftest.Equal(t, "numstat", strings.Join(got, "\n"), want)
	gitdifftest.Equal(t, "applied", applied(t, b, d), tree)
}

func TestGitTakesPatchesOfOddNames(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for _, name := range []string{`na\`, `na\\`, `\`, `a\"`, "tab\t", "new\nline\\", "\xff\\", ` lead\ `, `a => b`, "b/c\\"} {
		files[name], files["bin "+name] = "odd\n", "odd\x00\n"
	}
	b := workbench.New(t, files)
	root := b.Box(t)
	for name, text := range files {
		gitdifftest.WriteFiles(t, root, map[string]string{name: strings.ToUpper(text) + "more"})
	}
	tree := capturedForDiff(t, b, root)
	patch, err := os.Create(filepath.Join(t.TempDir(), "patch"))
	gitdifftest.Must(t, err)
	gitdifftest.Must(t, diffTo(t, b, tree).WritePatch(t.Context(), patch))
	gitdifftest.Must(t, patch.Close())
	b.Git(t, "apply", "--cached", patch.Name())
	gitdifftest.Equal(t, "the tree after git apply", b.Git(t, "write-tree"), tree)
}
