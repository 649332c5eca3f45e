package gitdiff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// maxBranches bounds the names that [Repo.Branches] lists.
const maxBranches = 1000

// Branches lists the short names of local branches, sorted, at most 1000 of them.
func (r *Repo) Branches() ([]string, error) {
	files := refsFS(r.commonDir)
	refs, err := dotgit.New(files).Refs()
	if files.unsafe != nil {
		err = files.unsafe
	}
	if err != nil {
		return nil, fmt.Errorf("list branches: %w", err)
	}
	names := []string{}
	for _, ref := range refs {
		if name, ok := strings.CutPrefix(ref.Name().String(), "refs/heads/"); ok {
			names = append(names, strings.ToValidUTF8(name, "\ufffd"))
		}
	}
	slices.Sort(names)
	return names[:min(len(names), maxBranches)], nil
}

// HeadBranch is the short name of the branch that is checked out, also of one without a commit; "" for a detached HEAD
// and where it cannot be read.
func (r *Repo) HeadBranch() string {
	ref, err := dotgit.New(refsFS(r.gitDir)).Ref(plumbing.HEAD)
	if err != nil || ref.Type() != plumbing.SymbolicReference {
		return ""
	}
	name, _ := strings.CutPrefix(ref.Target().String(), "refs/heads/")
	return strings.ToValidUTF8(name, "\ufffd")
}
