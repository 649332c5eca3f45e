package capture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"

	"golang.org/x/sys/unix"
)

// movedBase has directories of every kind of content.
var movedBase = map[string]string{
	"src/a/x.go": "x\n", "src/a/deep/y.go": "y\n", "src/a/deep/z.log": "z\n", "src/b/link": "-> ../a/x.go", "src/b/run.sh": "#!/bin/sh\n",
	"lib/one": "1\n", "lib/two": "2\n", "out/kept": "k\n", ".gitignore": "*.log\n/build\n",
}

// Each case is what a box does by renaming directories of a real mount. What is captured is what a plain directory gives.
func TestCaptureFollowsMovedDirectories(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, movedBase)
	lower := b.Box(t)
	for name, tc := range map[string]struct {
		script  []string // "from > to" renames, "from <> to" exchanges, "+path" makes a file, "-path" removes, "/path" makes a directory
		changes string
		found   string
	}{
		"within its parent":       {[]string{"lib > libs"}, "deleted lib/one; deleted lib/two; added libs/one; added libs/two; ", ""},
		"to another parent":       {[]string{"src/b > lib/b"}, "added lib/b/link; added lib/b/run.sh; deleted src/b/link; deleted src/b/run.sh; ", ""},
		"and back":                {[]string{"lib > x", "src/a > x/a", "x/a > src/a", "x > lib"}, "", ""},
		"nested":                  {[]string{"src/a/deep > src/a/d", "src/a > a", "src > s"}, "added a/d/y.go; added a/x.go; added s/b/link; added s/b/run.sh; deleted src/a/deep/y.go; deleted src/a/deep/z.log; deleted src/a/x.go; deleted src/b/link; deleted src/b/run.sh; ", "hidden_by_ignore a/d/z.log"},
		"out of a moved parent":   {[]string{"src > s", "s/b > b"}, "added b/link; added b/run.sh; added s/a/deep/y.go; added s/a/x.go; deleted src/a/deep/y.go; deleted src/a/deep/z.log; deleted src/a/x.go; deleted src/b/link; deleted src/b/run.sh; ", "hidden_by_ignore s/a/deep/z.log"},
		"into a new one":          {[]string{"/new/deep", "lib > new/deep/lib"}, "deleted lib/one; deleted lib/two; added new/deep/lib/one; added new/deep/lib/two; ", ""},
		"a new one at its place":  {[]string{"lib > old", "/lib", "+lib/three"}, "deleted lib/one; added lib/three; deleted lib/two; added old/one; added old/two; ", ""},
		"over an empty one":       {[]string{"-out/kept", "lib > out"}, "deleted lib/one; deleted lib/two; deleted out/kept; added out/one; added out/two; ", ""},
		"exchanged":               {[]string{"lib <> src/b"}, "added lib/link; deleted lib/one; added lib/run.sh; deleted lib/two; deleted src/b/link; added src/b/one; deleted src/b/run.sh; added src/b/two; ", ""},
		"changed there":           {[]string{"lib > libs", "-libs/one", "+libs/two", "+libs/new"}, "deleted lib/one; deleted lib/two; added libs/new; added libs/two; ", ""},
		"to what is ignored":      {[]string{"lib > build"}, "deleted lib/one; deleted lib/two; ", "hidden_by_ignore build"},
		"removed after":           {[]string{"lib > libs", "-libs/one", "-libs/two", "-libs"}, "deleted lib/one; deleted lib/two; ", ""},
		"below an opaque one":     {[]string{"-out/kept", "-out", "/out", "lib > out/lib", "out/lib > out/l"}, "deleted lib/one; deleted lib/two; deleted out/kept; added out/l/one; added out/l/two; ", ""},
		"into one another":        {[]string{"src/a > lib/a", "lib > out/lib", "out > o"}, "deleted lib/one; deleted lib/two; added o/kept; added o/lib/a/deep/y.go; added o/lib/a/x.go; added o/lib/one; added o/lib/two; deleted out/kept; deleted src/a/deep/y.go; deleted src/a/deep/z.log; deleted src/a/x.go; ", "hidden_by_ignore o/lib/a/deep/z.log"},
		"to a name that misleads": {[]string{"lib > li\u202eb"}, "deleted lib/one; deleted lib/two; added li\u202eb/one; added li\u202eb/two; ", "dangerous_path li\u202eb"},
		"to .GIT":                 {[]string{"lib > .GIT", "src/b > src/git~1"}, "deleted lib/one; deleted lib/two; deleted src/b/link; deleted src/b/run.sh; ", "dangerous_path .GIT dangerous_path src/git~1"},
		"to a name in other case": {[]string{"src/b > LIB"}, "added LIB/link; added LIB/run.sh; deleted src/b/link; deleted src/b/run.sh; ", "case_collision LIB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			l := mountOverlay(t, dir, lower, TrustedMarks)
			plain := filepath.Join(dir, "plain")
			gitdifftest.Must(t, os.Mkdir(plain, 0o755))
			gitdifftest.WriteFiles(t, plain, movedBase)
			for _, step := range tc.script {
				for _, root := range []string{l.merged, plain} {
					if err := perform(root, step); err != nil {
						t.Errorf("%s in %s: %v", step, filepath.Base(root), err)
					}
				}
			}
			gitdifftest.Must(t, unix.Unmount(l.merged, unix.MNT_DETACH))
			src := sourceOf(t, b, l.upper)
			src.Marks = TrustedMarks
			s, err := Capture(t.Context(), src)
			gitdifftest.Must(t, err)
			gitdifftest.Equal(t, "changes", treeDiff(t, b, b.Head(t).Tree, s.Tree), tc.changes)
			gitdifftest.Equal(t, "findings", strings.Join(found(s), " "), tc.found)
			flat := captured(t, b, plain)
			gitdifftest.Equal(t, "tree of a plain directory", flat.Tree, s.Tree)
			gitdifftest.Equal(t, "its findings", strings.Join(found(flat), " "), tc.found)
		})
	}
}

// perform does one step of a script below root.
func perform(root, step string) error {
	if from, to, ok := strings.Cut(step, " <> "); ok {
		return unix.Renameat2(unix.AT_FDCWD, filepath.Join(root, from), unix.AT_FDCWD, filepath.Join(root, to), unix.RENAME_EXCHANGE)
	}
	if from, to, ok := strings.Cut(step, " > "); ok {
		return unix.Rename(filepath.Join(root, from), filepath.Join(root, to)) // over an empty directory, too
	}
	path := filepath.Join(root, step[1:])
	switch step[0] {
	case '+':
		return os.WriteFile(path, []byte("made\n"), 0o644)
	case '-':
		return os.Remove(path)
	}
	return os.MkdirAll(path, 0o755)
}

// No box can write these marks. A capture that meets one anyway refuses the layer, and reads nothing outside the base's tree.
func TestCaptureRefusesForgedRedirects(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, movedBase)
	for _, value := range []string{
		"", "/", "//", "..", ".", "../lib", "/../etc", "/lib/..", "/lib/", "/./lib", "lib/one", "src/a", "/lib/one", "none", "/none", "/src/none/a", "/.git", ".git", "/src/a/x.go",
		"\xff", "a\x00b", "/" + strings.Repeat("x/", 300), strings.Repeat("x", maxRedirect+1),
	} {
		upper := t.TempDir()
		tag(t, upper)
		gitdifftest.Must(t, os.Mkdir(filepath.Join(upper, "moved"), 0o755))
		err := unix.Setxattr(filepath.Join(upper, "moved"), TrustedMarks.redirect(), []byte(value), 0)
		if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.E2BIG) {
			continue // a file system that keeps attributes in one block
		}
		gitdifftest.Must(t, err)
		src := sourceOf(t, b, upper)
		src.Marks = TrustedMarks
		if s, err := Capture(t.Context(), src); !errors.Is(err, errRedirect) {
			t.Errorf("%.40q: error = %v, tree %v", value, err, s)
		}
	}
	upper := t.TempDir()
	tag(t, upper)
	gitdifftest.Must(t, unix.Setxattr(upper, TrustedMarks.redirect(), []byte("/lib"), 0))
	src := sourceOf(t, b, upper)
	src.Marks = TrustedMarks
	if _, err := Capture(t.Context(), src); !errors.Is(err, errRedirect) {
		t.Errorf("root: %v", err)
	}
}

// Thousands of directories that all claim to show the same large one end at the budget, and at once when the run does.
func TestCaptureOfManyRedirectsIsBounded(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("big/d%d/f%d", i%50, i)] = "x\n"
	}
	b := workbench.New(t, files)
	upper := t.TempDir()
	tag(t, upper)
	for i := range 1500 {
		dir := filepath.Join(upper, fmt.Sprint("m", i))
		gitdifftest.Must(t, errors.Join(os.Mkdir(dir, 0o755), unix.Setxattr(dir, TrustedMarks.redirect(), []byte("/big"), 0)))
	}
	src := sourceOf(t, b, upper)
	src.Marks, src.Budget.Files = TrustedMarks, 100_000
	began := time.Now()
	var over *gitdiff.BudgetError
	if _, err := Capture(t.Context(), src); !errors.As(err, &over) || over.Code != gitdiff.TooManyFiles {
		t.Errorf("error = %v", err)
	}
	t.Logf("%d entries in %s", src.Budget.Files, time.Since(began))
	src.Budget = DefaultBudget()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began = time.Now()
	if _, err := Capture(ctx, src); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v", err)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("it ended after %s", took)
	}
}
