package gitdiff

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"sandboxrun/gitdiff/gitdifftest"
)

// applied opens the repository of r and the difference between two of its trees.
func applied(t *testing.T, r *gitdifftest.Repository, from, to string) (*Repo, *Diff) {
	t.Helper()
	repo, err := Open(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := NewStore(t.TempDir()).For(repo)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(objects.Close(), repo.Close()); err != nil {
			t.Error(err)
		}
	})
	d, err := objects.Diff(t.Context(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	return repo, d
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
	repo, d := applied(t, r, from, to)
	written, err := repo.Apply(t.Context(), d)
	if err != nil || len(written) != len(d.Changes) {
		t.Fatalf("Apply = %q, %v", written, err)
	}
	if again, err := repo.Apply(t.Context(), d); err != nil || len(again) != 0 {
		t.Errorf("applied twice: %q, %v; want nothing to do", again, err)
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
	repo, d := applied(t, r, from, to)
	r.Write("edited", "the user's own\n")
	r.Write("added/program", "the user's own\n")
	before := gitdifftest.Fingerprint(t, r.Dir)
	_, err := repo.Apply(t.Context(), d)
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
	repo, d := applied(t, r, from, to)
	if _, err := repo.Apply(t.Context(), d); err == nil {
		t.Error("Apply went through a link out of the tree")
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 0 {
		t.Errorf("outside holds %v, %v", entries, err)
	}
}

func TestApplyRefusesABareRepository(t *testing.T) {
	t.Parallel()
	r, from, to := twoTrees(t)
	_, d := applied(t, r, from, to)
	bare, err := Open(r.Bare().Dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bare.Apply(t.Context(), d); !errors.Is(err, ErrBare) {
		t.Errorf("Apply = %v", err)
	}
	if err := bare.Close(); err != nil {
		t.Error(err)
	}
}
