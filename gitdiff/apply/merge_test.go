package apply

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sandboxrun/gitdiff/gitdifftest"
)

// numbered is a text of lines 1 to 30, some of them replaced.
func numbered(replace map[int]string) string {
	var b strings.Builder
	for n := range 30 {
		line := strings.Repeat("x", n+1)
		if r, ok := replace[n+1]; ok {
			line = r
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// diverged is a repository in which a run changed line 3 of a file, a program's mode and a binary file.
func diverged(t *testing.T) (r *gitdifftest.Repository, from, to string) {
	t.Helper()
	r = gitdifftest.New(t)
	r.Write("text", numbered(nil))
	r.Write("other", "old\n")
	r.Write("tool", numbered(nil))
	r.Write("image", "\x00one\n")
	r.Git("add", "-A")
	r.Git("commit", "-q", "-m", "from")
	from = r.Git("rev-parse", "HEAD^{tree}")
	r.Write("text", numbered(map[int]string{3: "the run's"}))
	r.Write("other", "new\n")
	r.Git("update-index", "--chmod=+x", "tool")
	r.Git("add", "text", "other")
	to = r.Git("write-tree")
	r.Git("reset", "-q", "--hard")
	return r, from, to
}

func read(t *testing.T, r *gitdifftest.Repository, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.Dir, name))
	gitdifftest.Must(t, err)
	return string(text)
}

func TestMergeKeepsTheLinesOfBoth(t *testing.T) {
	t.Parallel()
	r, from, to := diverged(t)
	repo, objects, d := opened(t, r, from, to)
	r.Write("text", numbered(map[int]string{20: "the user's"}))
	r.Write("tool", numbered(map[int]string{1: "the user's"}))
	// What git would run for a merge here, and settings of the user's, are nothing to us.
	r.Write(".gitattributes", "* merge=evil filter=evil\n")
	canary := filepath.Join(t.TempDir(), "PWN")
	r.Git("config", "merge.evil.driver", "touch "+canary)
	r.Git("config", "merge.conflictStyle", "diff3")
	if rep, err := Merge(t.Context(), repo, objects, d, true); err != nil || len(rep.Written) != 3 || read(t, r, "other") != "old\n" {
		t.Errorf("without writing: %+v, %v", rep, err)
	}
	rep, err := Merge(t.Context(), repo, objects, d, false)
	if err != nil {
		t.Fatal(err)
	}
	gitdifftest.Equal(t, "text", read(t, r, "text"), numbered(map[int]string{3: "the run's", 20: "the user's"}))
	gitdifftest.Equal(t, "other", read(t, r, "other"), "new\n")
	gitdifftest.Equal(t, "tool", read(t, r, "tool"), numbered(map[int]string{1: "the user's"}))
	if fi, err := os.Stat(filepath.Join(r.Dir, "tool")); err != nil || fi.Mode()&0o100 == 0 {
		t.Errorf("the program did not become one: %v", err)
	}
	if slices.Sort(rep.Merged); !slices.Equal(rep.Merged, []string{"text", "tool"}) || len(rep.Written) != 3 {
		t.Errorf("report %+v", rep)
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("a merge driver of the repository ran")
	}
	// Once more changes nothing.
	if rep, err := Merge(t.Context(), repo, objects, d, false); err != nil || len(rep.Written) != 0 {
		t.Errorf("again: %+v, %v", rep, err)
	}
}

func TestMergeWritesNothingWhereAPersonHasToDecide(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(r *gitdifftest.Repository){
		"the same line": func(r *gitdifftest.Repository) { r.Write("text", numbered(map[int]string{3: "the user's"})) },
		"deleted":       func(r *gitdifftest.Repository) { gitdifftest.Must(t, os.Remove(filepath.Join(r.Dir, "text"))) },
		"no text":       func(r *gitdifftest.Repository) { r.Write("text", "\x00"+numbered(nil)) },
		"a link": func(r *gitdifftest.Repository) {
			gitdifftest.Must(t, os.Remove(filepath.Join(r.Dir, "text")))
			r.Link("text", "/etc/passwd")
		},
		"too large": func(r *gitdifftest.Repository) {
			gitdifftest.Must(t, os.Truncate(filepath.Join(r.Dir, "text"), maxMerged+1))
		},
	} {
		r, from, to := diverged(t)
		repo, objects, d := opened(t, r, from, to)
		edit(r)
		before := gitdifftest.Fingerprint(t, r.Dir)
		var conflict *ConflictError
		if _, err := Merge(t.Context(), repo, objects, d, false); !errors.As(err, &conflict) || !slices.Equal(conflict.Paths, []string{"text"}) {
			t.Errorf("%s: %v", name, err)
		}
		for path, sum := range gitdifftest.Fingerprint(t, r.Dir) {
			if before[path] != sum {
				t.Errorf("%s: %s changed", name, path)
			}
		}
	}
}
