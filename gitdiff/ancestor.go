package gitdiff

import (
	"context"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxAncestors bounds the commits that [Repo.HasAncestor] reads.
const maxAncestors = 100_000

// HasAncestor reports whether a commit is another one or in its history, both by their full hex ids. It reads at most
// 100 000 commits of the repository and says false when the commit is not among them: a shallow history ends earlier.
func (r *Repo) HasAncestor(ctx context.Context, commit, ancestor string) (bool, error) {
	want := plumbing.NewHash(ancestor)
	next := []plumbing.Hash{plumbing.NewHash(commit)}
	seen := map[plumbing.Hash]bool{next[0]: true}
	for at := 0; at < len(next) && at < maxAncestors; at++ {
		if err := context.Cause(ctx); err != nil {
			return false, fmt.Errorf("read history: %w", err)
		}
		if next[at] == want {
			return true, nil
		}
		c, err := r.peel(next[at].String(), next[at])
		if err != nil {
			if at > 0 { // a shallow history has no parents of its oldest commits
				continue
			}
			return false, fmt.Errorf("read history: %w", err)
		}
		for _, parent := range c.ParentHashes {
			if !seen[parent] {
				seen[parent] = true
				next = append(next, parent)
			}
		}
	}
	return false, nil
}
