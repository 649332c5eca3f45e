package apply

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/change"
	"sandboxrun/gitdiff/gitdifftest"
)

// opened opens the repository of r and the difference between two of its trees.
func opened(t *testing.T, r *gitdifftest.Repository, from, to string) (*gitdiff.Repo, *gitdiff.Objects, *change.Diff) {
	t.Helper()
	repo, err := gitdiff.Open(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := gitdiff.NewStore(t.TempDir()).For(repo)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(objects.Close(), repo.Close()); err != nil {
			t.Error(err)
		}
	})
	d, err := change.Compare(t.Context(), objects, from, to)
	if err != nil {
		t.Fatal(err)
	}
	return repo, objects, d
}

// twoTrees makes a repository whose work tree is at the first of two trees that
// differ in every kind of change.
func twoTrees(t *testing.T) (r *gitdifftest.Repository, from, to string) {
	t.Helper()
	r = gitdifftest.New(t)
	r.Write("same", "same\n")
	r.Write("edited", "old\n")
	r.Write("deleted/deep/file", "gone\n")
	r.Write("file-to-dir", "file\n")
	r.Write("dir-to-file/inner", "inner\n")
	r.Write("file-to-link", "file\n")
	r.Git("add", "-A")
	r.Git("commit", "-q", "-m", "from")
	from = r.Git("rev-parse", "HEAD^{tree}")

	r.Git("rm", "-q", "-r", "deleted", "file-to-dir", "dir-to-file", "file-to-link")
	r.Write("edited", "new\n")
	r.Write("file-to-dir/inner", "inner\n")
	r.Write("dir-to-file", "file\n")
	r.Link("file-to-link", "same")
	r.Write("added/program", "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(r.Dir, "added/program"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.Git("add", "-A")
	to = r.Git("write-tree")
	r.Git("reset", "-q", "--hard")
	r.Git("clean", "-q", "-fd")
	return r, from, to
}

func TestApplyBringsEveryKindOfChangeIntoTheWorkTree(t *testing.T) {
	t.Parallel()
	r, from, to := twoTrees(t)
	repo, objects, d := opened(t, r, from, to)
	before := gitdifftest.Fingerprint(t, r.Dir)
	tried, err := Try(t.Context(), repo, objects, d)
	if err != nil {
		t.Fatal(err)
	}
	gitdifftest.Equal(t, "the repository after a trial", gitdifftest.Fingerprint(t, r.Dir), before)
	rep, err := Apply(t.Context(), repo, objects, d)
	gitdifftest.Equal(t, "what was written", rep, tried)
	if err != nil || len(rep.Written) != len(d.Changes) || rep.Escapes != nil {
		t.Fatalf("Apply = %+v, %v", rep, err)
	}
	if again, err := Apply(t.Context(), repo, objects, d); err != nil || again.Written != nil {
		t.Errorf("applied twice: %+v, %v; want nothing to do", again, err)
	}
	r.Git("add", "-A")
	if got := r.Git("write-tree"); got != to {
		t.Errorf("work tree holds %s, want %s\n%s", got, to, r.Git("diff", "--stat", to))
	}
	if _, err := os.Lstat(filepath.Join(r.Dir, "deleted")); !os.IsNotExist(err) {
		t.Errorf("an emptied directory stayed: %v", err)
	}
}

func TestApplyWritesNothingWhenAnyPathIsTheUsersOwn(t *testing.T) {
	t.Parallel()
	r, from, to := twoTrees(t)
	repo, objects, d := opened(t, r, from, to)
	r.Write("edited", "the user's own\n")
	r.Write("added/program", "the user's own\n")
	before := gitdifftest.Fingerprint(t, r.Dir)
	_, err := Apply(t.Context(), repo, objects, d)
	var conflict *ConflictError
	if !errors.As(err, &conflict) || len(conflict.Paths) != 2 || conflict.Paths[0] != "added/program" || conflict.Paths[1] != "edited" {
		t.Fatalf("Apply = %v", err)
	}
	for path, sum := range gitdifftest.Fingerprint(t, r.Dir) {
		if before[path] != sum {
			t.Errorf("%s changed", path)
		}
	}
}

func TestApplyNeverFollowsALinkOutOfTheWorkTree(t *testing.T) {
	t.Parallel()
	r := gitdifftest.New(t)
	r.Write("keep", "x\n")
	r.Git("add", "-A")
	r.Git("commit", "-q", "-m", "from")
	from := r.Git("rev-parse", "HEAD^{tree}")
	r.Write("out/file", "written outside\n")
	r.Git("add", "-A")
	to := r.Git("write-tree")
	r.Git("reset", "-q", "--hard")
	outside := t.TempDir()
	if err := os.RemoveAll(filepath.Join(r.Dir, "out")); err != nil {
		t.Fatal(err)
	}
	r.Link("out", outside)
	repo, objects, d := opened(t, r, from, to)
	if _, err := Apply(t.Context(), repo, objects, d); err == nil {
		t.Error("Apply went through a link out of the tree")
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 0 {
		t.Errorf("outside holds %v, %v", entries, err)
	}
}

func TestApplyRefusesABareRepository(t *testing.T) {
	t.Parallel()
	r, from, to := twoTrees(t)
	_, objects, d := opened(t, r, from, to)
	bare, err := gitdiff.Open(r.Bare().Dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Apply(t.Context(), bare, objects, d); !errors.Is(err, ErrBare) {
		t.Errorf("Apply = %v", err)
	}
	if err := bare.Close(); err != nil {
		t.Error(err)
	}
}

func TestApplyRefusesAWorkTreeInAnotherPlace(t *testing.T) {
	t.Parallel()
	r, from, to := twoTrees(t)
	r.Git("config", "core.worktree", t.TempDir())
	repo, objects, d := opened(t, r, from, to)
	before := gitdifftest.Fingerprint(t, r.Dir)
	if _, err := Apply(t.Context(), repo, objects, d); !errors.Is(err, ErrElsewhere) {
		t.Errorf("Apply = %v", err)
	}
	gitdifftest.Equal(t, "files", gitdifftest.Fingerprint(t, r.Dir), before)
}

// In every kind of repository with a working tree of its own, that tree is what is written to.
func TestApplyInLinkedWorkTreesAndSubmodules(t *testing.T) {
	t.Parallel()
	r, from, to := twoTrees(t)
	linked := r.Worktree("side")
	super := gitdifftest.Sample(t).WithSubmodule("lib/sub", r)
	sub := gitdifftest.At(t, filepath.Join(super.Dir, "lib/sub"))
	for name, at := range map[string]*gitdifftest.Repository{"linked": linked, "submodule": sub} {
		if name == "submodule" { // the objects of the index did not come with the clone
			gitdifftest.Must(t, os.WriteFile(filepath.Join(super.Dir, ".git/modules/lib/sub/objects/info/alternates"),
				[]byte(filepath.Join(r.Dir, ".git/objects")+"\n"), 0o644))
		}
		repo, objects, d := opened(t, at, from, to)
		rep, err := Apply(t.Context(), repo, objects, d)
		if err != nil || len(rep.Written) != len(d.Changes) {
			t.Fatalf("%s: Apply = %+v, %v", name, rep, err)
		}
		at.Git("add", "-A")
		gitdifftest.Equal(t, name, at.Git("write-tree"), to)
	}
}

// A directory that is to become a file keeps the user's own files, and then nothing at all is written.
func TestApplyKeepsADirectoryWithTheUsersFiles(t *testing.T) {
	t.Parallel()
	for _, mine := range []string{"dir-to-file/mine", "dir-to-file/deep/mine"} {
		r, from, to := twoTrees(t)
		r.Write(mine, "the user's own\n")
		repo, objects, d := opened(t, r, from, to)
		before := gitdifftest.Fingerprint(t, r.Dir)
		_, err := Apply(t.Context(), repo, objects, d)
		var conflict *ConflictError
		if !errors.As(err, &conflict) || len(conflict.Paths) != 1 || conflict.Paths[0] != "dir-to-file" {
			t.Errorf("%s: Apply = %v", mine, err)
		}
		gitdifftest.Equal(t, "files", gitdifftest.Fingerprint(t, r.Dir), before)
	}
}
