package gitdiff_test

import (
	"context"
	"errors"
	"testing"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
	"sandboxrun/gitdiff/gitobj"
)

func TestResolveAgreesWithGit(t *testing.T) {
	t.Parallel()
	r := gitdifftest.Sample(t)
	r.Git("checkout", "--quiet", "-b", "feature/x", "HEAD~1")
	r.Write("side", "side\n")
	r.Commit("side")
	r.Git("checkout", "--quiet", "main")
	r.Git("merge", "--quiet", "--no-edit", "feature/x")
	r.Git("tag", "light", "HEAD~1")
	r.Git("tag", "-a", "-m", "x", "annotated", "HEAD^2")
	r.Git("tag", "-a", "-m", "x", "nested", "annotated")
	r.Git("update-ref", "refs/remotes/origin/main", "HEAD~1")
	full := r.Git("rev-parse", "HEAD")
	for _, packed := range []bool{false, true} {
		if packed {
			r.Git("pack-refs", "--all")
			r.Git("gc", "--quiet")
		}
		repo := workbench.Open(t, r)
		for _, rev := range []string{
			"HEAD", "@", "main", "heads/main", "refs/heads/main", "feature/x", "light", "annotated", "nested", "tags/nested",
			"origin/main", "refs/remotes/origin/main", full, full[:7], full[:9], "HEAD~", "HEAD~2", "HEAD^2", "HEAD^2~1", "HEAD^^",
			"HEAD^0", "annotated^{}", "annotated^{commit}~1", "@~1",
		} {
			if got, want := workbench.Resolve(t, repo, rev).ID, r.Git("rev-parse", rev+"^{commit}"); got != want {
				t.Errorf("%s: got %s, want %s", rev, got, want)
			}
		}
		if got, want := workbench.Resolve(t, repo, "HEAD").Tree, r.Git("rev-parse", "HEAD^{tree}"); got != want {
			t.Errorf("tree: got %s, want %s", got, want)
		}
	}
}

func TestResolveUsesTheHeadOfTheLinkedWorktree(t *testing.T) {
	t.Parallel()
	r := gitdifftest.Sample(t)
	side := r.Worktree("side")
	side.Write("new", "new\n")
	want := side.Commit("in the side")
	repo := workbench.Open(t, side)
	for _, rev := range []string{"HEAD", "side", "refs/heads/side"} {
		if got := workbench.Resolve(t, repo, rev).ID; got != want {
			t.Errorf("%s: got %s, want %s", rev, got, want)
		}
	}
	if got, want := workbench.Resolve(t, repo, "main").ID, r.Git("rev-parse", "main"); got != want {
		t.Errorf("main: got %s, want %s", got, want)
	}
}

func TestResolveNamesWhyARevisionIsNoCommit(t *testing.T) {
	t.Parallel()
	r := gitdifftest.Sample(t)
	r.Git("tag", "treetag", "HEAD^{tree}")
	repo := workbench.Open(t, r)
	for _, rev := range []string{
		"", "nope", "nope~1", "~1", "^", "HEAD~99", "HEAD^9", "HEAD~99999999999999999999", "HEAD^{tree}", "HEAD^x", "treetag", "-x", ":/one",
		"HEAD:README.md", "HEAD^{/one}", "@{1}", "HEAD@{0}", "main..main", "../../etc/passwd", "refs/../HEAD", "a b", "main\x00", "*", "abcd",
	} {
		var bad *gitdiff.RevisionError
		if c, err := repo.Resolve(context.Background(), rev); !errors.As(err, &bad) {
			t.Errorf("%q: got %v, %v", rev, c, err)
		}
	}
	var missing *gitobj.MissingError
	if _, err := repo.Resolve(context.Background(), "0123456789012345678901234567890123456789"); !errors.As(err, &missing) {
		t.Errorf("unknown id: got %v", err)
	}
}

func TestResolveOfAnEmptyRepositoryIsUnborn(t *testing.T) {
	t.Parallel()
	for _, r := range []*gitdifftest.Repository{gitdifftest.New(t), gitdifftest.New(t).Bare()} {
		if _, err := workbench.Open(t, r).Resolve(context.Background(), "HEAD"); !errors.Is(err, gitdiff.ErrUnborn) {
			t.Errorf("got %v", err)
		}
	}
	orphan := gitdifftest.Sample(t)
	orphan.Git("checkout", "--quiet", "--orphan", "fresh")
	if _, err := workbench.Open(t, orphan).Resolve(context.Background(), "HEAD"); !errors.Is(err, gitdiff.ErrUnborn) {
		t.Errorf("orphan branch: got %v", err)
	}
}

func TestResolveStopsAtAShallowBoundary(t *testing.T) {
	t.Parallel()
	r := gitdifftest.Sample(t).Shallow()
	repo := workbench.Open(t, r)
	workbench.Resolve(t, repo, "HEAD")
	var bad *gitdiff.RevisionError
	if _, err := repo.Resolve(context.Background(), "HEAD~1"); !errors.As(err, &bad) {
		t.Errorf("got %v", err)
	}
}
