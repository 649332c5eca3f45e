package gitdiff_test

import (
	"context"
	"errors"
	"testing"

	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
)

func TestHasAncestorAgreesWithGit(t *testing.T) {
	t.Parallel()
	r := gitdifftest.Sample(t)
	root := r.Git("rev-parse", "HEAD")
	r.Git("checkout", "--quiet", "-b", "side")
	r.Write("side", "side\n")
	side := r.Commit("side")
	r.Git("checkout", "--quiet", "main")
	r.Write("more", "more\n")
	main := r.Commit("more")
	r.Git("checkout", "--quiet", "-b", "merged")
	r.Git("merge", "--quiet", "--no-edit", "side")
	merged := r.Git("rev-parse", "HEAD")
	repo := workbench.Open(t, r)
	for _, tt := range []struct {
		commit, ancestor string
		want             bool
	}{
		{main, main, true}, {main, root, true}, {root, main, false}, {main, side, false}, {side, main, false}, {merged, side, true}, {merged, main, true},
		{main, "0123456789012345678901234567890123456789", false},
	} {
		if got, err := repo.HasAncestor(t.Context(), tt.commit, tt.ancestor); err != nil || got != tt.want {
			t.Errorf("%.7s in %.7s: %v, %v", tt.ancestor, tt.commit, got, err)
		}
	}
	over, end := context.WithCancelCause(t.Context())
	why := errors.New("over")
	end(why)
	if _, err := repo.HasAncestor(over, main, side); !errors.Is(err, why) {
		t.Errorf("after the end: %v", err)
	}
	shallow := workbench.Open(t, r.Shallow())
	head := workbench.Resolve(t, shallow, "HEAD").ID
	if got, err := shallow.HasAncestor(t.Context(), head, root); err != nil || got {
		t.Errorf("beyond a shallow history: %v, %v", got, err)
	}
}
