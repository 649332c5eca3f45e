package gitdiff

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/gitdiff/gitdifftest"
)

var layouts = []Layout{LayoutOverlay, LayoutCopy}

func TestWorkspaceHoldsTheBytesOfTheBase(t *testing.T) {
	t.Parallel()
	sample := gitdifftest.Sample(t)
	for name, r := range map[string]*gitdifftest.Repository{
		"ordinary": sample, "linked": sample.Worktree("side"), "bare": sample.Bare(), "shallow": sample.Shallow(),
		"borrowing": sample.Borrowing(), "submodule": gitdifftest.Sample(t).WithSubmodule("lib/sub", sample),
	} {
		repo := mustOpen(t, r)
		o := mustObjects(t, repo)
		c := mustResolve(t, repo, "HEAD")
		want := gitFiles(t, r, c.Tree)
		for _, layout := range layouts {
			w := mustWorkspace(t, o, layout, c, "")
			if diff := cmp.Diff(want, diskFiles(t, mountBox(t, w).workspace())); diff != "" {
				t.Errorf("%s, %s: files differ (-git +workspace):\n%s", name, layout, diff)
			}
		}
	}
}

// changedSample is a sample with a second tree in which entries of every type became every other type.
func changedSample(t *testing.T) (r *gitdifftest.Repository, base Commit, tree string) {
	r = gitdifftest.Sample(t).WithSubmodule("module", gitdifftest.Sample(t))
	for _, name := range []string{"file", "dir/a", "dir/b/c", "other/a", "other/sub/b", "toLink/a", "toModule/a/b", "kept/a", "kept/b/c", "emptied/x/y"} {
		r.Write(name, name+"\n")
	}
	r.Link("linked", "file")
	r.Commit("base")
	base = mustResolve(t, mustOpen(t, r), "HEAD")
	blob := func(s string) string { return "100644 blob " + r.Blob(s) + "\t" }
	link := func(s string) string { return "120000 blob " + r.Blob(s) + "\t" }
	sub := func(lines ...string) string { return "040000 tree " + r.Tree(lines...) + "\t" }
	module := "160000 commit " + base.ID + "\t"
	tree = r.Tree(
		sub(blob("1")+"a", sub(blob("2")+"b")+"d")+"file", // a file that became a directory
		blob("3")+"dir", // a directory that became a file
		sub(link("../x")+"a", blob("4")+"sub")+"other", // changes inside a directory
		link("other")+"toLink",
		module+"toModule",
		sub(blob("kept/a\n")+"a", sub(blob("new")+"n")+"b")+"kept",
		"100755 blob "+r.Blob("#!\n")+"\tlinked",
		sub(blob("5")+"a")+"module", // a submodule that became a directory
		module+"fresh",
	)
	return r, base, tree
}

func TestWorkspaceHoldsAnotherTreeOverTheBase(t *testing.T) {
	t.Parallel()
	r, base, tree := changedSample(t)
	o := mustObjects(t, mustOpen(t, r))
	for _, layout := range layouts {
		w := mustWorkspace(t, o, layout, base, tree)
		box := mountBox(t, w)
		if diff := cmp.Diff(gitFiles(t, r, tree), diskFiles(t, box.workspace())); diff != "" {
			t.Errorf("%s: files differ (-git +workspace):\n%s", layout, diff)
		}
		if status := box.must("git", "status", "--porcelain", "dir", "kept"); !strings.Contains(status, "kept/b/c") {
			t.Errorf("%s: git in the box does not show the difference: %q", layout, status)
		}
	}
}

func TestUpperLayerHoldsOnlyTheDifference(t *testing.T) {
	t.Parallel()
	r, base, _ := changedSample(t)
	r.Write("kept/a", "changed\n")
	r.Git("rm", "-q", "-r", "dir")
	tree := func() string { r.Commit("next"); return r.Git("rev-parse", "HEAD^{tree}") }()
	w := mustWorkspace(t, mustObjects(t, mustOpen(t, r)), LayoutOverlay, base, tree)
	var got []string
	err := filepath.WalkDir(w.Mount().Upper, func(path string, d fs.DirEntry, err error) error {
		if d.Name() == ".git" {
			return filepath.SkipDir
		}
		rel, relErr := filepath.Rel(w.Mount().Upper, path)
		got = append(got, d.Type().String()[:2]+" "+rel)
		return errors.Join(err, relErr)
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"d- .", "Dc dir", "d- kept", "-- kept/a"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestOpeningAndClosingLeavesTheRepositoryAndNothingElse(t *testing.T) {
	t.Parallel()
	r := gitdifftest.Sample(t)
	linked := r.Worktree("side")
	for _, user := range []*gitdifftest.Repository{r, linked} {
		before, beforeLinked := gitdifftest.Fingerprint(t, r.Dir), gitdifftest.Fingerprint(t, linked.Dir)
		repo := mustOpen(t, user)
		o := mustObjects(t, repo)
		c := mustResolve(t, repo, "HEAD")
		if _, err := repo.Dirty(context.Background()); err != nil {
			t.Fatal(err)
		}
		for _, layout := range layouts {
			w := mustWorkspace(t, o, layout, c, "")
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(w.spec.Dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: the workspace is still there: %v", layout, err)
			}
			if err := w.Close(); err != nil {
				t.Errorf("second close: %v", err)
			}
		}
		if diff := cmp.Diff(before, gitdifftest.Fingerprint(t, r.Dir)); diff != "" {
			t.Errorf("the repository changed:\n%s", diff)
		}
		if diff := cmp.Diff(beforeLinked, gitdifftest.Fingerprint(t, linked.Dir)); diff != "" {
			t.Errorf("the linked work tree changed:\n%s", diff)
		}
	}
}

func TestWorkspaceRefusesADirectoryInUse(t *testing.T) {
	t.Parallel()
	repo := mustOpen(t, gitdifftest.Sample(t))
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "precious"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	own := testBox()
	_, err := mustObjects(t, repo).Workspace(context.Background(), WorkspaceSpec{
		Dir: dir, Layout: LayoutCopy, Base: mustResolve(t, repo, "HEAD"), UID: own.uid, GID: own.gid})
	if err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(filepath.Join(dir, "precious")); err != nil {
		t.Error(err)
	}
}
