package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/schemas/closed"
)

// lookAround reaps what crashed and then counts everything, while nothing runs.
func (s *soak) lookAround(ctx context.Context) error {
	named := map[string]string{} // repository and branch to the commit that a result names
	for _, at := range []*site{s.main, s.beside} {
		if err := at.age(); err != nil {
			return err
		}
		if out, err := at.command(ctx, "reap").CombinedOutput(); err != nil {
			s.outcomes.violate(unexpected, "reap: %v: %.500s", err, out)
		}
		if err := s.leaks(at); err != nil {
			return err
		}
		if err := s.results(at, named); err != nil {
			return err
		}
	}
	for _, r := range s.repos {
		if err := s.damage(r, named); err != nil {
			return err
		}
	}
	s.outcomes.turn()
	return context.Cause(ctx)
}

// age makes half-made files look old: reap leaves them while a process could still be working on them, and here none
// is.
func (s *site) age() error {
	past := time.Now().Add(-24 * time.Hour)
	for _, dir := range []string{"", "runs", "work", "active", "etc", "sessions", "bases", "bases/bases", "bases/stores", "bases/workdirs"} {
		entries, err := os.ReadDir(filepath.Join(s.state, dir))
		if err != nil {
			continue // not every site has all of them
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") {
				continue
			}
			if err := os.Chtimes(filepath.Join(s.state, dir, e.Name()), past, past); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// leaks counts what is left of a site's runs: on the engine, mounted, and in its directories.
func (s *soak) leaks(at *site) error {
	id, err := at.instance()
	if err != nil {
		return err
	}
	for what, args := range map[string][]string{
		"container": {"ps", "-aq", "--filter", "label=sandboxrun.instance=" + id},
		"volume":    {"volume", "ls", "-q", "--filter", "label=sandboxrun.instance=" + id},
		"network":   {"network", "ls", "-q", "--filter", "label=sandboxrun.instance=" + id},
		"named box": {"ps", "-aq", "--filter", "name=sandboxrun-" + id},
		// The engine creates volumes by itself, without labels.
		"named volume": {"volume", "ls", "-q", "--filter", "name=sandboxrun-" + id},
	} {
		out, err := exec.Command("docker", args...).Output()
		if err != nil {
			return fmt.Errorf("docker %v: %w", args, err)
		}
		for one := range strings.FieldsSeq(string(out)) {
			s.outcomes.violate(leaked, "%s %s", what, one)
		}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, at.state) {
			s.outcomes.violate(leaked, "mount %s", line)
		}
	}
	return s.remains(at)
}

// remains counts files and locks that outlived their run.
func (s *soak) remains(at *site) error {
	for _, dir := range []string{at.temp, filepath.Join(at.state, "work"), filepath.Join(at.state, "active"), filepath.Join(at.state, "bases", "workdirs")} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			s.outcomes.violate(leaked, "%s", filepath.Join(dir, e.Name()))
		}
	}
	return filepath.WalkDir(at.state, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(at.state, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(rel, "bases/bases/") && strings.Count(rel, "/") > 2 || d.Name() == "logs"):
			return filepath.SkipDir // the user's files may have any name
		case d.Name() == "lock":
			return s.held(path)
		case rel != "." && temporary(rel, d.Name()):
			s.outcomes.violate(leaked, "%s", path)
		}
		return nil
	})
}

// temporary reports whether a name in a state directory is that of a half-made file.
func temporary(rel, name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "tmp_") || strings.HasPrefix(name, "id.") ||
		strings.HasPrefix(name, "doctor-") || strings.HasSuffix(name, ".lock") && strings.HasPrefix(rel, "bases/stores/")
}

// held counts a lock that is held although no process runs.
func (s *soak) held(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		s.outcomes.violate(leaked, "lock %s: %v", path, err)
	}
	return nil
}

// results compares every run of a site with the observed end of its task.
func (s *soak) results(at *site, named map[string]string) error {
	runs, err := os.ReadDir(filepath.Join(at.state, "runs"))
	if err != nil {
		return err
	}
	byTask := map[string][]string{}
	for _, d := range runs {
		if strings.HasPrefix(d.Name(), ".") {
			continue
		}
		doc, err := os.ReadFile(filepath.Join(at.state, "runs", d.Name(), "result.json"))
		if err != nil {
			s.outcomes.violate(lost, "run %s of task %q has no result: %v", d.Name(), at.taskOf(d.Name()), err)
			continue
		}
		var res document.Result
		if err := errors.Join(json.Unmarshal(doc, &res), closed.Validate("result", doc)); err != nil {
			s.outcomes.violate(corrupted, "result of run %s: %v", d.Name(), err)
			continue
		}
		byTask[res.TaskID] = append(byTask[res.TaskID], d.Name())
		if res.Git.Branch != "" {
			named[at.repoOf(d.Name())+" "+res.Git.Branch] = res.Git.Commit
		}
		s.outcomes.compare(&res)
	}
	s.outcomes.count(at == s.beside, byTask)
	return nil
}

// repoOf is the repository of a run.
func (s *site) repoOf(run string) string {
	var plan struct {
		Repo string `json:"repo_root"`
	}
	data, err := os.ReadFile(filepath.Join(s.state, "runs", run, "plan.json"))
	if err != nil || json.Unmarshal(data, &plan) != nil {
		return ""
	}
	return plan.Repo
}

// damage checks a repository: it is sound, the user's part is unchanged, and exactly one result names each branch of
// ours with its commit.
func (s *soak) damage(r *repo, named map[string]string) error {
	if out, err := git(r.dir, "fsck", "--strict", "--no-dangling", "--no-progress"); err != nil || out != "" {
		s.outcomes.violate(corrupted, "fsck of %s: %v %.500s", r.dir, err, out)
	}
	now, err := r.look()
	if err != nil {
		return err
	}
	if now != r.state {
		s.outcomes.violate(corrupted, "%s changed:\n%s\nbefore:\n%s", r.dir, now, r.state)
		r.state = now
	}
	litter, err := r.litter()
	if err != nil {
		return err
	}
	for _, path := range litter {
		s.outcomes.violate(leaked, "%s", path)
	}
	refs, err := r.branches()
	if err != nil {
		return err
	}
	for name, commit := range refs {
		if named[r.dir+" "+name] != commit {
			s.outcomes.violate(lost, "branch %s of %s is %s, the results say %q", name, r.dir, commit, named[r.dir+" "+name])
		}
	}
	for at, commit := range named {
		if name, ok := strings.CutPrefix(at, r.dir+" "); ok && refs[name] != commit {
			s.outcomes.violate(lost, "a result says branch %s of %s is %s, which it is not", name, r.dir, commit)
		}
	}
	return nil
}
