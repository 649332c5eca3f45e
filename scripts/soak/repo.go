package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// repo is one repository of all runners, and the state that must not change.
type repo struct {
	dir   string
	state string
}

// makeRepos makes the repositories of a soak: a few files, hundreds of them with
// packed refs, and one that is cloned and so has its objects in a pack.
func makeRepos(dir string) ([]*repo, error) {
	small, many, clone := filepath.Join(dir, "small"), filepath.Join(dir, "many"), filepath.Join(dir, "clone")
	if err := makeRepo(small, 3); err != nil {
		return nil, err
	}
	if err := makeRepo(many, 400); err != nil {
		return nil, err
	}
	if _, err := git(many, "pack-refs", "--all"); err != nil {
		return nil, err
	}
	if _, err := git(dir, "clone", "-q", "file://"+many, clone); err != nil {
		return nil, err
	}
	var repos []*repo
	for _, d := range []string{small, many, clone} {
		r := &repo{dir: d}
		var err error
		if r.state, err = r.look(); err != nil {
			return nil, err
		}
		repos = append(repos, r)
	}
	return repos, nil
}

func makeRepo(dir string, files int) error {
	write := func(name, text string) error {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, []byte(text), 0o644)
	}
	for i := range files {
		if err := write(fmt.Sprintf("src/%02d/f%03d.go", i%17, i), fmt.Sprintf("package p\n\nvar V%d = %d\n", i, i*7919)); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{"README.md": "# soak\n", "old.txt": "old\n", "kept.txt": "kept\n", ".gitignore": "*.tmp\n"} {
		if err := write(name, text); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "base"}, {"branch", "feature"}, {"tag", "v1"}} {
		if _, err := git(dir, args...); err != nil {
			return err
		}
	}
	return nil
}

// look describes the user's part of a repository: checkout, index, refs except ours, work trees, configuration.
func (r *repo) look() (string, error) {
	var all strings.Builder
	for _, args := range [][]string{
		{"rev-parse", "HEAD"}, {"symbolic-ref", "HEAD"}, {"status", "--porcelain", "--untracked-files=all"}, {"ls-files", "--stage"},
		{"worktree", "list", "--porcelain"}, {"config", "--local", "--list"}, {"stash", "list"},
	} {
		out, err := git(r.dir, args...)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&all, "%v\n%s\n", args, out)
	}
	out, err := git(r.dir, "for-each-ref", "--format=%(refname) %(objectname)")
	for ref := range strings.Lines(out) {
		if !strings.HasPrefix(ref, ours) {
			all.WriteString(ref)
		}
	}
	return all.String(), err
}

// ours is the prefix of the branches of runs.
const ours = "refs/heads/sandboxrun/"

// branches are the refs that runs made: name to commit.
func (r *repo) branches() (map[string]string, error) {
	out, err := git(r.dir, "for-each-ref", "--format=%(refname) %(objectname)", ours)
	refs := map[string]string{}
	for line := range strings.Lines(out) {
		name, commit, _ := strings.Cut(strings.TrimSpace(line), " ")
		refs[strings.TrimPrefix(name, "refs/heads/")] = commit
	}
	return refs, err
}

// litter lists what an interrupted writer leaves in a repository.
func (r *repo) litter() ([]string, error) {
	var found []string
	err := filepath.WalkDir(filepath.Join(r.dir, ".git"), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if strings.HasSuffix(name, ".lock") || strings.HasPrefix(name, "tmp_") || strings.Contains(name, "incoming") || strings.Contains(name, "sandboxrun-") {
			found = append(found, path)
		}
		return nil
	})
	return found, err
}

func git(dir string, args ...string) (string, error) {
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0",
		"GIT_AUTHOR_NAME=s", "GIT_AUTHOR_EMAIL=s@localhost", "GIT_COMMITTER_NAME=s", "GIT_COMMITTER_EMAIL=s@localhost")
	var errs strings.Builder
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("git %v in %s: %w: %.500s", args, filepath.Base(dir), err, errs.String())
	}
	return string(out), nil
}
