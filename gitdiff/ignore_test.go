package gitdiff

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Which new files the rules of the base hide is what git says of the same files.
func TestIgnoreRulesHideWhatGitHides(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{
		".gitignore":   "\ufeff# comment\n*.o\r\n!keep.o\n/top\nbuild/\nsub/**/x\n[!a-z]z\n\\#hash\ntrail \nq?\n",
		"d/.gitignore": "local\n!*.o\n/only\n", "d/tracked.o": "x", "sub/keep": "",
	})
	files := []string{
		"a.o", "keep.o", "top", "d/top", "build/x", "d/build/y", "build2", "sub/x", "sub/1/2/x", "Az", "az", "#hash", "trail", "q1", "q12",
		"local", "d/local", "d/b.o", "d/only", "d/e/only", "e/c.o",
	}
	dir := b.box(t)
	for _, name := range files {
		writeFiles(t, dir, map[string]string{name: "new\n"})
	}
	env := []string{"GIT_DIR=" + filepath.Join(b.dir, ".git"), "GIT_WORK_TREE=" + dir, "GIT_INDEX_FILE=" + filepath.Join(t.TempDir(), "index")}
	realGit(t, dir, env, "read-tree", "HEAD")
	realGit(t, dir, env, "add", "-A")
	want := realGit(t, dir, env, "write-tree")
	s := b.capture(t, dir)
	moveObjects(t, b)
	wantEqual(t, "files", b.git(t, "ls-tree", "-r", "--name-only", s.Tree), b.git(t, "ls-tree", "-r", "--name-only", want))
}

// D16: rules without end are cut, which hides less, and cost little.
func TestIgnoreRulesAreBounded(t *testing.T) {
	t.Parallel()
	var rules strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&rules, "**/a*a*a*a*a*a*a*b%d/**/x\n", i)
	}
	rules.WriteString("*.log\n" + strings.Repeat("*", maxIgnoreLine+1) + "\n")
	b := newBench(t, map[string]string{".gitignore": rules.String()})
	dir := b.box(t)
	for i := range 50 {
		writeFiles(t, dir, map[string]string{fmt.Sprintf("%s/%d.log", strings.Repeat("a", 200), i): "x"})
	}
	start := time.Now()
	s, changes := b.changed(t, dir)
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	wantEqual(t, "ignored and added", fmt.Sprint(s.Ignored, len(changes)), "0 50")
}

func TestIgnoredEntriesAreCountedAndTheFirstNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{".gitignore": "*.log\nnode_modules\n"})
	dir := b.box(t)
	for i := range 80 {
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.log", i)), nil, 0o644))
		writeFiles(t, dir, map[string]string{fmt.Sprintf("node_modules/p%d/index.js", i): "x"})
	}
	s := b.capture(t, dir)
	wantEqual(t, "counted, named, looked at", []int{s.Ignored, len(s.Findings), s.Files}, []int{81, maxIgnoredNamed, 82})
}
