package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/dirty"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
)

var layouts = []Layout{LayoutOverlay, LayoutCopy}

func TestWorkspaceHoldsTheBytesOfTheBase(t *testing.T) {
	t.Parallel()
	sample := gitdifftest.Sample(t)
	for name, r := range map[string]*gitdifftest.Repository{
		"ordinary": sample, "linked": sample.Worktree("side"), "bare": sample.Bare(), "shallow": sample.Shallow(),
		"borrowing": sample.Borrowing(), "submodule": gitdifftest.Sample(t).WithSubmodule("lib/sub", sample),
	} {
		repo := workbench.Open(t, r)
		o := workbench.Objects(t, repo)
		c := workbench.Resolve(t, repo, "HEAD")
		want := gitdifftest.TreeFiles(t, r, c.Tree)
		for _, layout := range layouts {
			w := mustWorkspace(t, o, layout, c, "")
			if diff := cmp.Diff(want, diskFiles(t, mountBox(t, w).workspace())); diff != "" {
				t.Errorf("%s, %s: files differ (-git +workspace):\n%s", name, layout, diff)
			}
		}
	}
}

// changedSample is a sample with a second tree in which entries of every type became every other type.
func changedSample(t *testing.T) (r *gitdifftest.Repository, base gitdiff.Commit, tree string) {
	r = gitdifftest.Sample(t).WithSubmodule("module", gitdifftest.Sample(t))
	for _, name := range []string{"file", "dir/a", "dir/b/c", "other/a", "other/sub/b", "toLink/a", "toModule/a/b", "kept/a", "kept/b/c", "emptied/x/y"} {
		r.Write(name, name+"\n")
	}
	r.Link("linked", "file")
	r.Commit("base")
	base = workbench.Resolve(t, workbench.Open(t, r), "HEAD")
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
	o := workbench.Objects(t, workbench.Open(t, r))
	for _, layout := range layouts {
		w := mustWorkspace(t, o, layout, base, tree)
		box := mountBox(t, w)
		if diff := cmp.Diff(gitdifftest.TreeFiles(t, r, tree), diskFiles(t, box.workspace())); diff != "" {
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
	w := mustWorkspace(t, workbench.Objects(t, workbench.Open(t, r)), LayoutOverlay, base, tree)
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
		repo := workbench.Open(t, user)
		o := workbench.Objects(t, repo)
		c := workbench.Resolve(t, repo, "HEAD")
		if _, err := dirty.Read(context.Background(), repo); err != nil {
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
	repo := workbench.Open(t, gitdifftest.Sample(t))
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "precious"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	own := testBox()
	_, err := New(context.Background(), workbench.Objects(t, repo), Spec{
		Dir: dir, Layout: LayoutCopy, Base: workbench.Resolve(t, repo, "HEAD"), UID: own.uid, GID: own.gid})
	if err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(filepath.Join(dir, "precious")); err != nil {
		t.Error(err)
	}
}

func TestStoreIsForTheRunnerAlone(t *testing.T) {
	t.Parallel()
	repo := workbench.Open(t, gitdifftest.Sample(t))
	o := workbench.Objects(t, repo)
	mustWorkspace(t, o, LayoutOverlay, workbench.Resolve(t, repo, "HEAD"), "")
	for _, dir := range []string{o.Store().Dir(), filepath.Join(o.Store().Dir(), "stores", o.Key()+".git"), filepath.Join(o.Store().Dir(), "bases", o.Key())} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, info.Mode(), err)
		}
	}
}

func TestOverlayRefusesAPathItsOptionsCannotName(t *testing.T) {
	t.Parallel()
	repo := workbench.Open(t, gitdifftest.Sample(t))
	own := testBox()
	spec := Spec{Dir: filepath.Join(t.TempDir(), "a:b"), Layout: LayoutOverlay, Base: workbench.Resolve(t, repo, "HEAD"), UID: own.uid, GID: own.gid}
	if _, err := New(context.Background(), workbench.Objects(t, repo), spec); err == nil || !strings.Contains(err.Error(), "colon") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(spec.Dir); !os.IsNotExist(err) {
		t.Errorf("left behind: %v", err)
	}
}
