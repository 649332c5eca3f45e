package gitdiff_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
)

func TestOpenFindsTheDirectoriesOfEveryKindOfRepository(t *testing.T) {
	t.Parallel()
	sample := gitdifftest.Sample(t)
	linked := sample.Worktree("side")
	bare := sample.Bare()
	super := gitdifftest.Sample(t).WithSubmodule("lib/sub", sample)
	alias := filepath.Join(t.TempDir(), "alias")
	if err := os.Symlink(sample.Dir, alias); err != nil {
		t.Fatal(err)
	}
	dot := filepath.Join(sample.Dir, ".git")
	type dirs struct {
		path, root, gitDir, common string
		bare                       bool
	}
	shallow := sample.Shallow()
	sub := filepath.Join(super.Dir, "lib/sub")
	module := filepath.Join(super.Dir, ".git/modules/lib/sub")
	for name, c := range map[string]dirs{
		"ordinary":  {sample.Dir, sample.Dir, dot, dot, false},
		"symlink":   {alias, sample.Dir, dot, dot, false},
		"linked":    {linked.Dir, linked.Dir, filepath.Join(dot, "worktrees", "side"), dot, false},
		"bare":      {bare.Dir, bare.Dir, bare.Dir, bare.Dir, true},
		"submodule": {sub, sub, module, module, false},
		"shallow":   {shallow.Dir, shallow.Dir, filepath.Join(shallow.Dir, ".git"), filepath.Join(shallow.Dir, ".git"), false},
	} {
		r, err := gitdiff.Open(c.path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if r.Root() != c.root || r.GitDir() != c.gitDir || r.CommonDir() != c.common || r.Bare() != c.bare {
			t.Errorf("%s: got %s %s %s %v", name, r.Root(), r.GitDir(), r.CommonDir(), r.Bare())
		}
		if c := workbench.Resolve(t, r, "HEAD"); c.Tree == "" {
			t.Errorf("%s: no tree", name)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenNamesTheRootOfASubdirectory(t *testing.T) {
	t.Parallel()
	r := gitdifftest.Sample(t)
	for _, sub := range []string{"src/deep", ".git"} {
		var root *gitdiff.RootError
		if _, err := gitdiff.Open(filepath.Join(r.Dir, sub)); !errors.As(err, &root) || root.Root != r.Dir {
			t.Errorf("%s: got %v", sub, err)
		}
	}
}

func TestOpenRefusesWhatIsNoRepository(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	broken := filepath.Join(dir, "broken")
	for path, text := range map[string]string{file: "x", filepath.Join(broken, ".git"): "gitdir: nowhere\n"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]error{dir: gitdiff.ErrNotRepository, file: gitdiff.ErrNotRepository, broken: gitdiff.ErrNotRepository, filepath.Join(dir, "missing"): os.ErrNotExist} {
		if _, err := gitdiff.Open(path); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", path, err, want)
		}
	}
	if _, err := gitdiff.Open("relative"); err == nil || !strings.Contains(err.Error(), "absolute") {
		t.Errorf("relative path: got %v", err)
	}
}

func TestOpenNamesTheFormatItCannotRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sha256 := gitdifftest.Init(t, filepath.Join(dir, "sha256"), "--object-format=sha256")
	for name, config := range map[string]string{
		"reftable ref storage": "[core]\n repositoryformatversion = 1\n[extensions]\n refStorage = reftable\n",
		"extension something":  "[core]\n repositoryformatversion = 1\n[extensions]\n something = true\n",
		"format version 2":     "[core]\n repositoryformatversion = 2\n",
		"sha256 object ids":    "",
		"cannot be parsed":     "[core\n",
	} {
		r := sha256
		if config != "" {
			r = gitdifftest.Init(t, filepath.Join(dir, name))
			r.Write(".git/config", config)
		}
		var format *gitdiff.FormatError
		if _, err := gitdiff.Open(r.Dir); !errors.As(err, &format) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestOpenReadsSparseAndPartialRepositories(t *testing.T) {
	t.Parallel()
	r := gitdifftest.Sample(t)
	want := r.Git("rev-parse", "HEAD")
	r.Git("sparse-checkout", "set", "src/deep")
	r.Git("config", "core.repositoryformatversion", "1")
	r.Git("config", "extensions.partialClone", "origin")
	if r.Git("config", "extensions.worktreeConfig") != "true" {
		t.Fatal("the fixture has no worktreeConfig extension")
	}
	if got := workbench.Resolve(t, workbench.Open(t, r), "HEAD"); got.ID != want {
		t.Errorf("got %s, want %s", got.ID, want)
	}
}
