package gitdiff

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// applied applies the patch of a diff with the real git to an index that holds the base, and returns the tree it makes.
func (b *bench) applied(t testing.TB, d *Diff) string {
	t.Helper()
	dir := t.TempDir()
	patch := filepath.Join(dir, "diff.patch")
	f, err := os.Create(patch)
	must(t, err)
	must(t, d.WritePatch(t.Context(), f))
	must(t, f.Close())
	work := filepath.Join(dir, "work")
	must(t, os.Mkdir(work, 0o755))
	env := []string{"GIT_DIR=" + filepath.Join(b.dir, ".git"), "GIT_WORK_TREE=" + work, "GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	if d.From != "" {
		realGit(t, work, env, "read-tree", d.From)
		realGit(t, work, env, "checkout-index", "-a", "-f", "-u")
	}
	if len(d.Changes) > 0 {
		realGit(t, work, env, "apply", "--index", "--whitespace=nowarn", patch)
	}
	return realGit(t, work, env, "write-tree")
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
			must(t, os.Symlink("t"+strings.ReplaceAll(text[:min(len(text), 50)], "\x00", ""), path))
			continue
		}
		if rapid.Bool().Draw(rt, l+" edited") {
			text += rapid.StringMatching(`([ab]\n){0,9}[ab]?`).Draw(rt, l+" more")
		}
		mode := rapid.SampledFrom([]os.FileMode{0o644, 0o755}).Draw(rt, l+" mode")
		must(t, os.WriteFile(path, []byte(text), mode))
	}
	return dir
}

// The patch of any two trees applies to the first with git and gives the second, to the byte.
func TestPatchAppliesAndGivesTheTree(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	rapid.Check(t, func(rt *rapid.T) {
		from, to := b.capture(t, drawTree(t, rt, "old")).Tree, b.capture(t, drawTree(t, rt, "new")).Tree
		moveObjects(t, b)
		d, err := b.objects.Diff(t.Context(), from, to)
		must(t, err)
		if got := b.applied(t, d); got != to {
			rt.Errorf("git apply gives %s, want %s: %s", got, to, treeDiff(t, b, to, got))
		}
	})
}

// moveObjects lets the real git of the bench see the objects of the store.
func moveObjects(t testing.TB, b *bench) {
	t.Helper()
	path := filepath.Join(b.dir, ".git/objects/info/alternates")
	must(t, os.WriteFile(path, []byte(filepath.Join(b.objects.dir, "objects")+"\n"), 0o644))
}

// Lines are counted as git diff --numstat counts them, whatever the attributes in the tree say (T14).
func TestDiffCountsWhatGitCounts(t *testing.T) {
	t.Parallel()
	code := "package a\n\nfunc A() {\n\tone()\n}\n\nfunc B() {\n\ttwo()\n}\n"
	b := newBench(t, map[string]string{
		"insert.go": code, "edit.go": code, "gone.txt": "1\n2\n3\n", "bin": "\x00", "noeol": "a\nb", "mode.sh": "x\n", "crlf": "a\r\nb\r\n",
		".gitattributes": "*.go binary\n", "moved": strings.Repeat("line\n", 3) + "end\n", "rewritten": strings.Repeat("a\n", 50),
	})
	dir := b.box(t)
	writeFiles(t, dir, map[string]string{
		"insert.go": strings.Replace(code, "func B", "func C() {\n\tthree()\n}\n\nfunc B", 1), "edit.go": strings.Replace(code, "two", "deux", 1),
		"bin": "\x00\x01", "noeol": "a\nb\n", "crlf": "a\nb\n", "new": "1\n2", "empty": "", "rewritten": strings.Repeat("b\n", 70), "img": "GIF\x00",
	})
	must(t, os.Remove(filepath.Join(dir, "gone.txt")))
	must(t, os.Rename(filepath.Join(dir, "moved"), filepath.Join(dir, "elsewhere")))
	must(t, os.Chmod(filepath.Join(dir, "mode.sh"), 0o755))
	s := b.capture(t, dir)
	d := b.diff(t, s.Tree)
	moveObjects(t, b)
	must(t, os.WriteFile(filepath.Join(b.dir, ".git/info/attributes"), []byte("* !diff !text\n"), 0o644))
	want := b.git(t, "diff", "--numstat", "--no-renames", "HEAD", s.Tree)
	var got []string
	for _, c := range d.Changes {
		got = append(got, numstat(c))
	}
	wantEqual(t, "numstat", strings.Join(got, "\n"), want)
	wantEqual(t, "applied", b.applied(t, d), s.Tree)
}
