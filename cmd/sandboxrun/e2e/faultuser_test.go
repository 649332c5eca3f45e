package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"sandboxrun/runner/document"
)

// whole checks that a repository is complete: every object exists, and no half-written reference.
func (r *repo) whole() {
	r.t.Helper()
	r.git("fsck", "--full", "--strict", "--no-dangling")
	for _, pattern := range []string{"*.lock", "tmp_*", ".tmp*"} {
		err := filepath.WalkDir(filepath.Join(r.dir, ".git"), func(p string, _ os.DirEntry, err error) error {
			if ok, merr := filepath.Match(pattern, filepath.Base(p)); ok || merr != nil {
				r.t.Errorf("left in the repository: %s", p)
			}
			return err
		})
		if err != nil {
			r.t.Error(err)
		}
	}
}

// must runs commands of the user in their repository.
func (r *repo) must(commands ...string) {
	r.t.Helper()
	for _, c := range commands {
		r.git(strings.Fields(c)...)
	}
}

func TestUserChangesTheRepositoryDuringARun(t *testing.T) {
	t.Parallel()
	collect := "gc --quiet --aggressive --prune=now"
	for _, c := range []struct {
		name string
		do   func(*repo)
		code string // of the issue, "" where the run lands all the same
	}{
		{name: "collects garbage", do: func(r *repo) { r.must(collect, "worktree prune", "pack-refs --all") }},
		{name: "repacks", do: func(r *repo) { r.must("repack -q -a -d -f") }},
		{name: "deletes the base branch", do: func(r *repo) {
			r.must("checkout -q -b other", "branch -D main")
		}},
		{name: "goes on with the work", do: func(r *repo) {
			r.write(map[string]string{"early.txt": "the user's own\n"})
			r.must("add -A", "commit -q -m more")
		}},
		{name: "makes the base commit vanish", code: document.CodeLandFailed, do: func(r *repo) {
			r.must("checkout -q --orphan anew", "commit -q -m anew", "branch -D main", "reflog expire --expire=now --expire-unreachable=now --all", collect)
		}},
		{name: "removes the repository", code: document.CodeObjectsMissing, do: func(r *repo) {
			if err := os.RemoveAll(r.dir); err != nil {
				r.t.Error(err)
			}
		}},
		{name: "moves the repository", code: document.CodeObjectsMissing, do: func(r *repo) {
			if err := os.Rename(r.dir, r.dir+".moved"); err != nil {
				r.t.Error(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rig, repo := newRig(t), newRepo(t, sample)
			base := repo.git("rev-parse", "HEAD")
			h := hold(t, rig, repo.task())
			c.do(repo)
			res, exit := h.release()
			if c.code != "" {
				if exit != 4 && exit != 3 || res.Git.Branch != "" || !hasCode(res, c.code) || hasCode(res, document.CodeRunnerError) {
					t.Errorf("exit %d, %+v, issues %+v", exit, res.Git, res.Issues)
				}
				// Where the base still exists, the patch has the work.
				patch, err := os.ReadFile(res.Git.Patch)
				if c.code == document.CodeLandFailed && (err != nil || !strings.Contains(string(patch), "late.txt")) {
					t.Errorf("patch: %v: %s", err, patch)
				}
			} else {
				if exit != 0 || res.Git.Branch == "" {
					t.Fatalf("exit %d, %+v, issues %+v", exit, res.Git, res.Issues)
				}
				if got := repo.git("rev-parse", res.Git.Branch+"^"); got != base {
					t.Errorf("landed on %s, not on the base", got)
				}
			}
			if _, err := os.Stat(repo.dir); err == nil {
				repo.whole()
			}
		})
	}
}

func TestManyRunnersOnOneRepositoryAllLand(t *testing.T) {
	t.Parallel()
	const runners = 8
	repo := newRepo(t, sample)
	before := fingerprint(t, repo.dir)
	rigs := []*rig{newRig(t), newRig(t)} // of two state directories
	outs := make([]outcome, runners)
	var group errgroup.Group
	for i := range outs {
		task := repo.task(fmt.Sprintf("echo %d > %d.txt", i, i))
		if i%2 == 0 {
			task["task_id"] = "same"
		}
		doc, rig := marshal(t, task), rigs[i/2%2]
		c := rig.command("execute", "--quiet", "-")
		group.Go(func() error {
			c.Stdin = strings.NewReader(string(doc))
			out, err := c.Output()
			outs[i] = outcome{exit: c.ProcessState.ExitCode(), stdout: out}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	branches := map[string]bool{}
	for i, o := range outs {
		var res document.Result
		decode(t, o.stdout, &res)
		if o.exit != 0 || branches[res.Git.Branch] {
			t.Errorf("run %d: exit %d, branch %q of %v, %+v", i, o.exit, res.Git.Branch, branches, res.Issues)
		}
		branches[res.Git.Branch] = true
		if got := repo.git("diff", "--name-only", "main", res.Git.Branch); got != fmt.Sprintf("%d.txt", i) {
			t.Errorf("run %d landed %q", i, got)
		}
	}
	if !branches["sandboxrun/same"] {
		t.Errorf("no run got the task's name: %v", branches)
	}
	repo.whole()
	after := fingerprint(t, repo.dir)
	for name, sum := range before {
		if after[name] != sum {
			t.Errorf("the user's repository changed: %s", name)
		}
	}
}

func TestOperatorChangesTheBoxDuringARun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		do   [][]string
		code string
		exit int
	}{
		{"kill", [][]string{{"kill"}}, document.CodeBoxEnded, 4},
		{"kill by TERM", [][]string{{"kill", "-s", "TERM"}}, "", 0}, // the box could send it too: the guest ignores it
		{"stop", [][]string{{"stop", "-t", "1"}}, document.CodeBoxEnded, 4},
		{"remove", [][]string{{"rm", "-f"}}, document.CodeBoxEnded, 4},
		{"restart", [][]string{{"restart", "-t", "1"}}, document.CodeBoxEnded, 4},
		{"pause for a while", [][]string{{"pause"}, {"unpause"}}, "", 0},
		{"pause for good", [][]string{{"pause"}}, "runtime_limit", 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rig, repo := newRig(t), newRepo(t, sample)
			task := repo.task()
			if c.exit == 6 {
				task["max_runtime_seconds"] = 12
			}
			h := hold(t, rig, task)
			box := h.box()
			for _, words := range c.do {
				// Freezing needs several attempts where processes come and go.
				waitFor(t, "docker "+words[0], func() bool {
					out, err := dockerIn(t, append(slices.Clone(words), box)...)
					if err != nil {
						t.Logf("docker %v: %v: %s", words, err, out)
					}
					return err == nil || words[0] != "pause" && words[0] != "unpause"
				})
			}
			var res document.Result
			var exit int
			if c.exit == 0 {
				res, exit = h.release()
			} else {
				res, exit = h.wait()
			}
			if exit != c.exit || c.code != "" && (len(res.Issues) == 0 || res.Issues[0].Code != c.code) || hasCode(res, "memory_limit") {
				t.Errorf("exit %d, %s, issues %+v", exit, res.Status, res.Issues)
			}
			if !res.Box.Cleanup.Complete || !hasFile(res, "early.txt") {
				t.Errorf("cleanup %+v, files %+v", res.Box.Cleanup, res.FilesChanged)
			}
			if last := res.CommandsRun[len(res.CommandsRun)-1]; c.exit != 0 && last.ExitCode != nil {
				t.Errorf("a command that did not end by itself ended with %d", *last.ExitCode)
			}
		})
	}
}

func hasFile(res document.Result, path string) bool {
	return slices.ContainsFunc(res.FilesChanged, func(f document.FileChange) bool { return f.Path == path })
}
