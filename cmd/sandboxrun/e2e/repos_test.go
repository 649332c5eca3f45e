package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lands runs a one-file change on dir and requires that it lands without another change to the repository (its common
// git directory).
func lands(t *testing.T, rig *rig, dir, common string) {
	t.Helper()
	before, beforeCommon := fingerprint(t, dir), fingerprint(t, common)
	res, o := rig.execute((&repo{t: t, dir: dir}).task("echo new > added.txt"))
	if o.exit != 0 || len(res.FilesChanged) != 1 || res.FilesChanged[0].Path != "added.txt" {
		t.Fatalf("exit %d, files %+v, issues %+v", o.exit, res.FilesChanged, res.Issues)
	}
	if got := gitIn(t, dir, "rev-parse", res.Git.Branch+"^{tree}"); got != res.Git.Tree {
		t.Errorf("branch holds tree %s, result says %s", got, res.Git.Tree)
	}
	if d := cmp.Diff(before, fingerprint(t, dir)); d != "" {
		t.Errorf("the work tree changed:\n%s", d)
	}
	if d := cmp.Diff(beforeCommon, fingerprint(t, common)); d != "" {
		t.Errorf("the git directory changed:\n%s", d)
	}
}

func TestRepositoriesOfEveryKind(t *testing.T) {
	t.Parallel()
	kinds := map[string]func(t *testing.T, r *repo) (dir, common string){
		"linked worktree": func(t *testing.T, r *repo) (string, string) {
			wt := filepath.Join(t.TempDir(), "wt")
			r.git("worktree", "add", "-q", "--detach", wt)
			return wt, filepath.Join(r.dir, ".git")
		},
		"bare": func(t *testing.T, r *repo) (string, string) {
			bare := filepath.Join(t.TempDir(), "bare.git")
			r.git("clone", "-q", "--bare", r.dir, bare)
			return bare, bare
		},
		"shallow": func(t *testing.T, r *repo) (string, string) {
			r.git("commit", "-q", "--allow-empty", "-m", "second")
			shallow := filepath.Join(t.TempDir(), "shallow")
			r.git("clone", "-q", "--depth", "1", "file://"+r.dir, shallow)
			return shallow, filepath.Join(shallow, ".git")
		},
		"packed": func(_ *testing.T, r *repo) (string, string) {
			r.git("gc", "-q")
			return r.dir, filepath.Join(r.dir, ".git")
		},
		"detached head": func(_ *testing.T, r *repo) (string, string) {
			r.git("checkout", "-q", "--detach")
			return r.dir, filepath.Join(r.dir, ".git")
		},
		"empty tree": func(_ *testing.T, r *repo) (string, string) {
			r.git("rm", "-q", "-r", ".")
			r.git("commit", "-q", "-m", "nothing")
			return r.dir, filepath.Join(r.dir, ".git")
		},
		"lfs pointers and attributes": func(_ *testing.T, r *repo) (string, string) {
			r.write(map[string]string{
				".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n*.crlf text eol=crlf\n",
				"big.bin":        "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("ab", 32) + "\nsize 12345\n",
				"a.crlf":         "one\r\ntwo\r\n",
			})
			r.git("add", "-A")
			r.git("commit", "-q", "-m", "lfs")
			return r.dir, filepath.Join(r.dir, ".git")
		},
		"sparse checkout": func(_ *testing.T, r *repo) (string, string) {
			r.git("sparse-checkout", "set", "--cone")
			return r.dir, filepath.Join(r.dir, ".git")
		},
	}
	for name, prepare := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rig := newRig(t)
			dir, common := prepare(t, newRepo(t, sample))
			lands(t, rig, dir, common)
		})
	}
}

func TestSubmodulesAreLeftAloneAndReported(t *testing.T) {
	t.Parallel()
	rig, inner, outer := newRig(t), newRepo(t, sample), newRepo(t, sample)
	outer.git("submodule", "add", "-q", inner.dir, "sub")
	outer.git("commit", "-q", "-m", "with a submodule")
	lands(t, rig, outer.dir, filepath.Join(outer.dir, ".git"))

	res, _ := rig.execute(outer.task("mkdir -p sub && echo x > sub/x && echo y > y"))
	if !hasCode(res, "submodule_touched") || len(res.FilesChanged) != 1 {
		t.Errorf("codes %v, files %+v", codes(res), res.FilesChanged)
	}
}

func TestDirtyTreesAreReportedOrIncluded(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	repo.write(map[string]string{"README.md": "changed by the user\n", "untracked.txt": "new\n"})
	before := fingerprint(t, repo.dir)

	res, o := rig.execute(repo.task("grep -q Adds README.md && test ! -e untracked.txt && echo x > x"))
	if o.exit != 0 || !hasCode(res, "dirty_tree") {
		t.Errorf("exit %d, codes %v", o.exit, codes(res))
	}
	if hasCode(res, "dirty_included") {
		t.Errorf("codes %v", codes(res))
	}
	task := repo.task("grep -q 'by the user' README.md && test -e untracked.txt && echo x > x")
	task["context"].(map[string]any)["include_dirty"] = true
	res, o = rig.execute(task)
	if o.exit != 0 || len(res.FilesChanged) != 1 || hasCode(res, "dirty_tree") || !hasCode(res, "dirty_included") {
		t.Fatalf("exit %d, files %+v, codes %v", o.exit, res.FilesChanged, codes(res))
	}
	if got := repo.git("show", res.Git.Branch+":README.md"); got != "changed by the user" {
		t.Errorf("README.md on the branch: %q", got)
	}
	if parent := repo.git("rev-parse", res.Git.Branch+"^"); parent != res.Git.BaseCommit {
		t.Errorf("parent %s, base_commit %s", parent, res.Git.BaseCommit)
	}
	if d := cmp.Diff(before, fingerprint(t, repo.dir)); d != "" {
		t.Errorf("the user's tree changed:\n%s", d)
	}
}

func TestUnusableRepositoriesAreInputErrors(t *testing.T) {
	t.Parallel()
	rig := newRig(t)
	dir := t.TempDir()
	sub := newRepo(t, sample)
	if err := os.Mkdir(filepath.Join(sub.dir, "inside"), 0o755); err != nil {
		t.Fatal(err)
	}
	unborn := filepath.Join(dir, "unborn")
	gitIn(t, dir, "init", "-q", unborn)
	sha256 := filepath.Join(dir, "sha256")
	gitIn(t, dir, "init", "-q", "--object-format=sha256", sha256)
	gitIn(t, sha256, "commit", "-q", "--allow-empty", "-m", "x")
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct{ path, base, pointer string }{
		"missing":          {filepath.Join(dir, "nowhere"), "", "/context/repo_root"},
		"relative":         {"some/where", "", "/context/repo_root"},
		"not a repository": {dir, "", "/context/repo_root"},
		"a file":           {file, "", "/context/repo_root"},
		"inside one":       {filepath.Join(sub.dir, "inside"), "", "/context/repo_root"},
		"sha256":           {sha256, "", "/context/repo_root"},
		"unborn":           {unborn, "", "/context/base"},
		"unknown base":     {sub.dir, "no-such-branch", "/context/base"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			task := (&repo{t: t, dir: c.path}).task("true")
			if c.base != "" {
				task["context"].(map[string]any)["base"] = c.base
			}
			doc, exit := rig.refuse(marshal(t, task))
			if exit != 2 || doc.Error.Type != "invalid_input" || len(doc.Error.Details) != 1 || doc.Error.Details[0].Path != c.pointer {
				t.Errorf("exit %d, %+v", exit, doc)
			}
		})
	}
}

func TestUnreadableRepositoryIsAnInputError(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	rig, repo := newRig(t), newRepo(t, sample)
	if err := os.Chmod(repo.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	asNobody(t, rig)
	doc, exit := rig.refuse(marshal(t, repo.task("true")))
	if exit != 2 || len(doc.Error.Details) != 1 || doc.Error.Details[0].Path != "/context/repo_root" || !strings.Contains(doc.Error.Details[0].Message, "cannot be read") {
		t.Errorf("exit %d, %+v", exit, doc)
	}
}
