package gitdiff

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGitTakesPatchesOfOddNames(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for _, name := range []string{`na\`, `na\\`, `\`, `a\"`, "tab\t", "new\nline\\", "\xff\\", ` lead\ `, `a => b`, "b/c\\"} {
		files[name], files["bin "+name] = "odd\n", "odd\x00\n"
	}
	b := newBench(t, files)
	root := b.box(t)
	for name, text := range files {
		writeFiles(t, root, map[string]string{name: strings.ToUpper(text) + "more"})
	}
	s := b.capture(t, root)
	patch, err := os.Create(filepath.Join(t.TempDir(), "patch"))
	must(t, err)
	must(t, b.diff(t, s.Tree).WritePatch(t.Context(), patch))
	must(t, patch.Close())
	b.git(t, "apply", "--cached", patch.Name())
	wantEqual(t, "the tree after git apply", b.git(t, "write-tree"), s.Tree)
}
