// Package repos finds the repositories that tasks may be for, and says in what state they are.
package repos

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/dirty"
)

const (
	// maxDepth is how many directories below a root a repository may be.
	maxDepth = 3
	// maxFound bounds the repositories that are found, maxLooked the directories that are looked at.
	maxFound  = 500
	maxLooked = 20_000
)

// State is what a repository is like.
type State struct {
	Head     string   `doc:"Branch that is checked out; missing for a detached HEAD."            json:"head,omitempty"`
	Commit   string   `doc:"Commit of HEAD; missing before the first."                           json:"commit,omitempty"`
	Branches []string `doc:"Local branches, at most 1000."                                       json:"branches"`
	Dirty    *Dirty   `doc:"What differs from HEAD; missing for a bare repository."              json:"dirty,omitempty"`
	Problem  string   `doc:"Why the repository cannot be read. Everything else is missing then." json:"problem,omitempty"`
}

// Dirty counts how a working tree differs from HEAD.
type Dirty struct {
	Clean     bool     `json:"clean"`
	Staged    int      `json:"staged"`
	Modified  int      `json:"modified"`
	Deleted   int      `json:"deleted"`
	Untracked int      `json:"untracked"`
	Names     []string `doc:"The first few of the paths."               json:"names"`
	Unknown   string   `doc:"Why it is not known; the counts are zero." json:"unknown,omitempty"`
}

// Below lists repositories up to three directories below each root, without those inside of repositories, sorted. Links
// are not followed, hidden directories are not entered, and what cannot be read is left out.
func Below(ctx context.Context, roots []string) []string {
	var found []string
	looked := 0
	var walk func(dir string, depth int)
	walk = func(dir string, depth int) {
		if looked++; looked > maxLooked || len(found) >= maxFound || ctx.Err() != nil {
			return
		}
		if isRepository(dir) {
			found = append(found, dir)
			return
		}
		entries, err := os.ReadDir(dir)
		if err != nil || depth == maxDepth {
			return
		}
		for _, e := range entries {
			if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
				walk(filepath.Join(dir, e.Name()), depth+1)
			}
		}
	}
	for _, root := range roots {
		if resolved, err := filepath.EvalSymlinks(root); err == nil {
			walk(resolved, 0)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// isRepository is a quick look: opening one reads more.
func isRepository(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		return true
	}
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// Look reads the state of the repository at a root. What ctx cuts short is told as unknown.
func Look(ctx context.Context, root string) (s State) {
	s.Branches = []string{}
	repo, err := gitdiff.Open(root)
	if err != nil {
		return State{Branches: []string{}, Problem: err.Error()}
	}
	defer func() { _ = repo.Close() }() // nothing was written
	if s.Branches, err = repo.Branches(); err != nil {
		return State{Branches: []string{}, Problem: err.Error()}
	}
	s.Head = repo.HeadBranch()
	if c, err := repo.Resolve(ctx, "HEAD"); err == nil {
		s.Commit = c.ID
	} else if !errors.Is(err, gitdiff.ErrUnborn) {
		s.Problem = err.Error()
	}
	if repo.Bare() {
		return s
	}
	d, err := dirty.Read(ctx, repo)
	if err != nil {
		d = dirty.State{Unknown: err.Error()}
	}
	s.Dirty = &Dirty{Clean: d.Clean(), Staged: d.Staged, Modified: d.Modified, Deleted: d.Deleted, Untracked: d.Untracked, Names: []string{}, Unknown: d.Unknown}
	for _, name := range d.Names {
		s.Dirty.Names = append(s.Dirty.Names, strings.ToValidUTF8(name, "\ufffd"))
	}
	return s
}
