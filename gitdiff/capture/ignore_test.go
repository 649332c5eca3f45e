package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
	"sandboxrun/gitdiff/ignore"
)

// Which new files the rules of the base hide is what git says of the same files.
func TestIgnoreRulesHideWhatGitHides(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{
		".gitignore":   "\ufeff# comment\n*.o\r\n!keep.o\n/top\nbuild/\nsub/**/x\n[!a-z]z\n\\#hash\ntrail \nq?\n",
		"d/.gitignore": "local\n!*.o\n/only\n", "d/tracked.o": "x", "sub/keep": "",
	})
	files := []string{
		"a.o", "keep.o", "top", "d/top", "build/x", "d/build/y", "build2", "sub/x", "sub/1/2/x", "Az", "az", "#hash", "trail", "q1", "q12",
		"local", "d/local", "d/b.o", "d/only", "d/e/only", "e/c.o",
	}
	dir := b.Box(t)
	for _, name := range files {
		gitdifftest.WriteFiles(t, dir, map[string]string{name: "new\n"})
	}
	env := []string{"GIT_DIR=" + filepath.Join(b.Dir, ".git"), "GIT_WORK_TREE=" + dir, "GIT_INDEX_FILE=" + filepath.Join(t.TempDir(), "index")}
	gitdifftest.Git(t, dir, env, "read-tree", "HEAD")
	gitdifftest.Git(t, dir, env, "add", "-A")
	want := gitdifftest.Git(t, dir, env, "write-tree")
	s := captured(t, b, dir)
	b.LendObjects(t)
	gitdifftest.Equal(t, "files", b.Git(t, "ls-tree", "-r", "--name-only", s.Tree), b.Git(t, "ls-tree", "-r", "--name-only", want))
}

// D16: rules without end are cut, which hides less, and cost little.
func TestIgnoreRulesAreBounded(t *testing.T) {
	t.Parallel()
	var rules strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&rules, "**/a*a*a*a*a*a*a*b%d/**/x\n", i)
	}
	rules.WriteString("*.log\n" + strings.Repeat("*", ignore.MaxLine+1) + "\n")
	b := workbench.New(t, map[string]string{".gitignore": rules.String()})
	dir := b.Box(t)
	for i := range 50 {
		gitdifftest.WriteFiles(t, dir, map[string]string{fmt.Sprintf("%s/%d.log", strings.Repeat("a", 200), i): "x"})
	}
	start := time.Now()
	s, changes := changed(t, b, dir)
	if took := time.Since(start); took > 2*time.Minute {
		t.Errorf("took %v", took)
	}
	gitdifftest.Equal(t, "ignored and added", fmt.Sprint(s.Ignored, len(changes)), "0 50")
}

func TestIgnoredEntriesAreCountedAndTheFirstNamed(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{".gitignore": "*.log\nnode_modules\n"})
	dir := b.Box(t)
	for i := range 80 {
		gitdifftest.Must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.log", i)), nil, 0o644))
		gitdifftest.WriteFiles(t, dir, map[string]string{fmt.Sprintf("node_modules/p%d/index.js", i): "x"})
	}
	s := captured(t, b, dir)
	gitdifftest.Equal(t, "counted, named, looked at", []int{s.Ignored, len(s.Findings), s.Files}, []int{81, maxIgnoredNamed, 82})
}
