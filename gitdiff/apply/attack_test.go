package apply

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/gitdiff/gitdifftest"
)

// hooked is a way to the hooks of a repository by a change, and what the user's working tree has to look like for it.
type hooked struct {
	base, change map[string]string // files of the run's base, and of its tree: path to content, "-> target", or "" for none
	tree         func(t *testing.T, r *gitdifftest.Repository)
}

func replaceByLink(path, target string) func(*testing.T, *gitdifftest.Repository) {
	return func(t *testing.T, r *gitdifftest.Repository) {
		t.Helper()
		gitdifftest.Must(t, os.RemoveAll(filepath.Join(r.Dir, path)))
		gitdifftest.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(r.Dir, path)), 0o755))
		r.Link(path, target)
	}
}

// ways are changes that pass a link, or a git directory in another place, on their way to a file that git or a build runs.
var ways = map[string]hooked{
	"a link of the user's": {
		change: map[string]string{"docs/pre-commit": "evil\n"}, tree: replaceByLink("docs", ".git/hooks"),
	},
	"a link of an earlier change, committed on another branch": {
		base: map[string]string{"docs/readme": "r\n"}, change: map[string]string{"docs/pre-commit": "evil\n"},
		tree: func(t *testing.T, r *gitdifftest.Repository) {
			t.Helper()
			r.Git("rm", "-q", "-r", "docs")
			replaceByLink("docs", ".git/hooks")(t, r)
			r.Commit("docs is a link")
		},
	},
	"a link in the middle": {
		change: map[string]string{"a/b/hooks/pre-commit": "evil\n"}, tree: replaceByLink("a/b", "../.git"),
	},
	"links by way of others": {
		change: map[string]string{"a/pre-commit": "evil\n"},
		tree: func(t *testing.T, r *gitdifftest.Repository) {
			t.Helper()
			r.Link("g", ".git")
			r.Link("a", "g/hooks")
		},
	},
	"a link to the git directory itself": {
		change: map[string]string{"meta/hooks/pre-commit": "evil\n"}, tree: replaceByLink("meta", ".git"),
	},
	"an absolute link": {
		change: map[string]string{"docs/pre-commit": "evil\n"},
		tree: func(t *testing.T, r *gitdifftest.Repository) {
			t.Helper()
			r.Link("docs", filepath.Join(r.Dir, ".git/hooks"))
		},
	},
	"a deletion": {
		base: map[string]string{"docs/pre-commit.sample": "#!x\n"}, change: nil,
		tree: func(t *testing.T, r *gitdifftest.Repository) {
			t.Helper()
			hook, err := os.ReadFile(filepath.Join(r.Dir, "docs/pre-commit.sample"))
			gitdifftest.Must(t, err)
			replaceByLink("docs", ".git/hooks")(t, r)
			gitdifftest.Must(t, os.WriteFile(filepath.Join(r.Dir, ".git/hooks/pre-commit.sample"), hook, 0o644))
		},
	},
	"a change of mode": {
		base: map[string]string{"docs/hook": "x\n"}, change: map[string]string{"docs/hook": "#!x\n"},
		tree: func(t *testing.T, r *gitdifftest.Repository) {
			t.Helper()
			replaceByLink("docs", ".git/hooks")(t, r)
			gitdifftest.Must(t, os.WriteFile(filepath.Join(r.Dir, ".git/hooks/hook"), []byte("x\n"), 0o644))
		},
	},
	"a link instead of a directory that was renamed": {
		base: map[string]string{"old/f": "f\n"}, change: map[string]string{"new/f": "f\n", "new/pre-commit": "evil\n"},
		tree: replaceByLink("new", ".git/hooks"),
	},
	"a git directory of another name": {
		change: map[string]string{"meta/hooks/pre-commit": "evil\n"},
		tree: func(t *testing.T, r *gitdifftest.Repository) {
			t.Helper()
			gitdifftest.Must(t, os.Rename(filepath.Join(r.Dir, ".git"), filepath.Join(r.Dir, "meta")))
			r.Write(".git", "gitdir: meta\n")
		},
	},
	"a nested repository's directory of another name": {
		change: map[string]string{"sub/meta/hooks/pre-commit": "evil\n"},
		tree: func(t *testing.T, r *gitdifftest.Repository) {
			t.Helper()
			gitdifftest.Init(t, filepath.Join(r.Dir, "sub"), "--separate-git-dir", filepath.Join(r.Dir, "sub/meta"))
		},
	},
	"a link to a nested repository": {
		change: map[string]string{"docs/pre-commit": "evil\n"},
		tree: func(t *testing.T, r *gitdifftest.Repository) {
			t.Helper()
			gitdifftest.Init(t, filepath.Join(r.Dir, "sub"))
			r.Link("docs", "sub/.git/hooks")
		},
	},
	"a link to a directory of the tree": {
		base: map[string]string{"src/a": "a\n"}, change: map[string]string{"src/a": "a\n", "vendor/b": "evil\n"}, tree: replaceByLink("vendor", "src"),
	},
}

// TestApplyPassesNoLinkAndNoGitDirectory applies every way's change: nothing is written, and the error names the path.
func TestApplyPassesNoLinkAndNoGitDirectory(t *testing.T) {
	t.Parallel()
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gitdifftest.New(t)
			r.Write("keep", "x\n")
			from := treeOf(t, r, way.base)
			r.Commit("base")
			to := treeOf(t, r, way.change)
			r.Git("reset", "-q", "--hard")
			way.tree(t, r)
			repo, objects, d := opened(t, r, from, to)
			before := gitdifftest.Fingerprint(t, r.Dir)
			_, err := Apply(t.Context(), repo, objects, d)
			var unsafe *UnsafeError
			if !errors.As(err, &unsafe) || len(unsafe.Paths) == 0 {
				t.Errorf("Apply = %v, want an UnsafeError", err)
			}
			for path, sum := range gitdifftest.Fingerprint(t, r.Dir) {
				if before[path] != sum {
					t.Errorf("%s was written", path)
				}
				delete(before, path)
			}
			for path := range before {
				t.Errorf("%s was removed", path)
			}
		})
	}
}

// A link that leads out of the tree is left out whatever else is written, and so is one that a link makes possible.
func TestApplyNeverWritesALinkThatLeadsOut(t *testing.T) {
	t.Parallel()
	r := gitdifftest.New(t)
	from := treeOf(t, r, map[string]string{"turned": "a file\n"})
	r.Commit("base")
	to := treeOf(t, r, map[string]string{
		"turned": "-> /etc/passwd", "hooks": "-> .git/hooks", "up": "-> ../../x", "in": "-> keep", "d/in": "-> ../keep", "case": "-> .GIT/config", "via": "-> hooks/x", "new": "n\n",
	})
	r.Git("reset", "-q", "--hard")
	repo, objects, d := opened(t, r, from, to)
	rep, err := Apply(t.Context(), repo, objects, d)
	gitdifftest.Must(t, err)
	gitdifftest.Equal(t, "left out", rep.Escapes, []string{"case", "hooks", "turned", "up", "via"})
	gitdifftest.Equal(t, "written", rep.Written, []string{"new", "d/in", "in"})
	if text, err := os.ReadFile(filepath.Join(r.Dir, "turned")); err != nil || string(text) != "a file\n" {
		t.Errorf("turned holds %q, %v", text, err)
	}
	for _, name := range rep.Escapes[:2] {
		if _, err := os.Lstat(filepath.Join(r.Dir, name)); !os.IsNotExist(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A link that the same change turns into a directory is replaced by it, and what it led to stays.
func TestApplyTurnsALinkIntoADirectory(t *testing.T) {
	t.Parallel()
	r := gitdifftest.New(t)
	from := treeOf(t, r, map[string]string{"d": "-> src", "src/f": "f\n"})
	r.Commit("base")
	to := treeOf(t, r, map[string]string{"d/f": "new\n", "src/f": "f\n"})
	r.Git("reset", "-q", "--hard")
	repo, objects, d := opened(t, r, from, to)
	_, err := Apply(t.Context(), repo, objects, d)
	gitdifftest.Must(t, err)
	r.Git("add", "-A")
	gitdifftest.Equal(t, "tree", r.Git("write-tree"), to)
}

// A directory that becomes a link after the check is not written through: the write opens it anew.
func TestApplySeesADirectoryThatWasReplacedAfterTheCheck(t *testing.T) {
	t.Parallel()
	r := gitdifftest.New(t)
	from := treeOf(t, r, map[string]string{"d/f": "old\n"})
	r.Commit("base")
	to := treeOf(t, r, map[string]string{"d/f": "old\n", "d/pre-commit": "evil\n"})
	r.Git("reset", "-q", "--hard")
	repo, objects, d := opened(t, r, from, to)
	root, err := openWorkTree(repo)
	gitdifftest.Must(t, err)
	a := newApplier(root, objects, d)
	todo, err := a.check(t.Context())
	gitdifftest.Must(t, err)
	gitdifftest.Must(t, os.RemoveAll(filepath.Join(r.Dir, "d")))
	r.Link("d", ".git/hooks")
	before := gitdifftest.Fingerprint(t, r.Dir)
	for i := range todo {
		var unsafe *UnsafeError
		if err := a.write(&todo[i]); !errors.As(err, &unsafe) {
			t.Errorf("%s: %v, want an UnsafeError", todo[i].Name, err)
		}
	}
	gitdifftest.Equal(t, "files", gitdifftest.Fingerprint(t, r.Dir), before)
	gitdifftest.Must(t, root.close())
}

// treeOf makes the index hold keep and files, and returns its tree.
func treeOf(t *testing.T, r *gitdifftest.Repository, files map[string]string) string {
	t.Helper()
	r.Git("rm", "-q", "-r", "--ignore-unmatch", ".")
	r.Write("keep", "x\n")
	for path, text := range files {
		if target, link := strings.CutPrefix(text, "-> "); link {
			r.Link(path, target)
			continue
		}
		r.Write(path, text)
		if strings.HasPrefix(text, "#!") {
			gitdifftest.Must(t, os.Chmod(filepath.Join(r.Dir, path), 0o755))
		}
	}
	r.Git("add", "-A", "-f")
	return r.Git("write-tree")
}
