package workspace

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
)

func TestGitWorksInTheBox(t *testing.T) {
	t.Parallel()
	r := gitdifftest.Sample(t).WithSubmodule("lib/sub", gitdifftest.Sample(t))
	repo := workbench.Open(t, r)
	o := workbench.Objects(t, repo)
	for _, layout := range layouts {
		w := mustWorkspace(t, o, layout, workbench.Resolve(t, repo, "HEAD"), "")
		box := mountBox(t, w)
		index, err := os.ReadFile(filepath.Join(w.root, ".git/index"))
		if err != nil {
			t.Fatal(err)
		}
		if got := box.must("git", "status", "--porcelain"); got != "" {
			t.Errorf("%s: first status: %q", layout, got)
		}
		if after, err := os.ReadFile(filepath.Join(w.root, ".git/index")); err != nil || !bytes.Equal(index, after) {
			t.Errorf("%s: the first status had to refresh the index (%v)", layout, err)
		}
		if got := box.must("git", "log", "--format=%an %s", "--all"); got != "sandboxrun The tree this task starts from\n" {
			t.Errorf("%s: log: %q", layout, got)
		}
		box.must("git", "fsck", "--strict")
		write := func(text string) {
			if err := os.WriteFile(filepath.Join(box.workspace(), "README.md"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write("# changed\n")
		if got := box.must("git", "diff", "--stat"); !strings.Contains(got, "1 insertion(+), 1 deletion(-)") {
			t.Errorf("%s: diff: %q", layout, got)
		}
		box.must("git", "stash")
		if got := box.must("git", "status", "--porcelain"); got != "" {
			t.Errorf("%s: status after stash: %q", layout, got)
		}
		box.must("git", "stash", "pop")
		box.must("git", "mv", "src/main.go", "src/moved.go")
		box.must("git", "commit", "-qam", "work")
		if got := box.must("git", "log", "--format=%s"); got != "work\nThe tree this task starts from\n" {
			t.Errorf("%s: log: %q", layout, got)
		}
		box.must("git", "reset", "-q", "--hard", "HEAD~1")
		if got := box.must("git", "status", "--porcelain"); got != "" {
			t.Errorf("%s: status after reset: %q", layout, got)
		}
	}
}

func TestBoxSeesNoObjectButTheBases(t *testing.T) {
	t.Parallel()
	r := gitdifftest.Sample(t)
	first := r.Git("rev-parse", "HEAD")
	r.Write("secret", "on another branch\n")
	r.Git("add", "secret")
	r.Git("stash", "--quiet")
	stashed := r.Git("rev-parse", "stash@{0}^2:secret")
	r.Git("rm", "-q", "--force", "README.md")
	later := r.Commit("later")
	repo := workbench.Open(t, r)
	w := mustWorkspace(t, workbench.Objects(t, repo), LayoutOverlay, workbench.Resolve(t, repo, first), "")
	box := mountBox(t, w)
	box.must("git", "cat-file", "-e", r.Git("rev-parse", first+":README.md"))
	for _, id := range []string{stashed, later, first, r.Git("rev-parse", first+"~1")} {
		if _, err := box.run("git", "cat-file", "-e", id); err == nil {
			t.Errorf("object %s is visible", id)
		}
	}
	want := strings.Fields(r.Git("ls-tree", "-r", "-t", "--format=%(objectname)", first))
	want = append(want, r.Git("rev-parse", first+"^{tree}"), w.base.Private)
	unique := map[string]bool{}
	for _, id := range want {
		unique[id] = true
	}
	got := strings.Fields(box.must("git", "cat-file", "--batch-all-objects", "--batch-check=%(objectname)"))
	if len(got) != len(unique) {
		t.Errorf("%d objects in the box, want %d", len(got), len(unique))
	}
	for _, id := range got {
		if !unique[id] {
			t.Errorf("object %s is not the base's", id)
		}
	}
}

func TestBoxCannotChangeTheBaseObjects(t *testing.T) {
	t.Parallel()
	repo := workbench.Open(t, gitdifftest.Sample(t))
	w := mustWorkspace(t, workbench.Objects(t, repo), LayoutOverlay, workbench.Resolve(t, repo, "HEAD"), "")
	box := mountBox(t, w)
	if out, err := box.run("sh", "-c", "echo junk > "+BaseObjects+"/pack/junk"); err == nil {
		t.Errorf("wrote into the base's objects: %s", out)
	}
	if out, err := box.run("sh", "-c", "rm -rf src && echo gone > README.md && ls"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if text, err := os.ReadFile(filepath.Join(w.base.treeDir(), "README.md")); err != nil || string(text) != "# sample\n" {
		t.Errorf("the base changed: %q, %v", text, err)
	}
}
