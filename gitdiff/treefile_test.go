package gitdiff_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
	"sandboxrun/gitdiff/gitobj"
)

func TestFilesOfATreeAreReadFromItsObjects(t *testing.T) {
	t.Parallel()
	r := gitdifftest.Sample(t)
	r.Link("src/up", "..")
	r.Link("dir", "src")
	r.Write("large", strings.Repeat("0123456789abcdef", 1<<17)) // above what go-git keeps in memory
	r.Commit("links")
	r.WithSubmodule("vendor/sub", gitdifftest.Sample(t))
	repo := workbench.Open(t, r)
	tree := workbench.Resolve(t, repo, "HEAD").Tree
	r.Write("src/main.go", "changed since\n") // the work tree is not what is read
	gitdifftest.Must(t, os.Remove(r.Dir+"/empty"))
	files := workbench.Objects(t, repo).Files(100, 8<<20)

	for path, want := range map[string]string{
		"src/main.go": "package main\n\nfunc main() {}\n", "src/tool.sh": "#!/bin/sh\nexit 0\n", "empty": "", "not-utf8-\xff\xfe": "bytes\n",
		"name with \"quotes\" and space": "q\n", "src/deep/er/file.txt": "deep $Id$\n", "large": strings.Repeat("0123456789abcdef", 1<<17),
	} {
		got, err := files.Read(t.Context(), tree, path)
		if err != nil || string(got) != want {
			t.Errorf("%q: %d bytes, error %v, want %d bytes", path, len(got), err, len(want))
		}
	}
	for path, what := range map[string]string{
		"link": "link is a symbolic link", "out": "out is a symbolic link", "dangling": "dangling is a symbolic link", "dir/main.go": "dir is a symbolic link",
		"src/up/README.md": "src/up is a symbolic link", "src": "src is a directory", "src/deep": "src/deep is a directory",
		"vendor/sub": "vendor/sub is a submodule", "vendor/sub/README.md": "vendor/sub is a submodule",
	} {
		_, err := files.Read(t.Context(), tree, path)
		var not *gitdiff.NotFileError
		if !errors.As(err, &not) || not.Path+" is "+not.What != what {
			t.Errorf("%q: error %v, want that %s", path, err, what)
		}
	}
	for _, path := range []string{
		"nothing", "src/nothing", "README.md/below", "SRC/main.go", "", "/", "/src/main.go", "src//main.go", "src/./main.go", "src/../empty", "src/main.go/",
		"../" + strings.TrimPrefix(r.Dir, "/") + "/empty", strings.Repeat("a/", 5000) + "a",
	} {
		if got, err := files.Read(t.Context(), tree, path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%.80q: %q, error %v", path, got, err)
		}
	}
	if _, err := files.Read(t.Context(), "", "README.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the empty tree has a file: %v", err)
	}
	ended, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	if _, err := files.Read(ended, tree, "README.md"); !errors.Is(err, stopped) {
		t.Errorf("after the end of its context: %v", err)
	}
}

func TestFilesOfATreeAreReadWithinABudget(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{"small": "0123456789", "large": strings.Repeat("x", 2<<20), "d/f": "f"})
	tree := b.Head(t).Tree
	spent := func(files *gitdiff.FileReader, path string) gitdiff.Code {
		t.Helper()
		content, err := files.Read(t.Context(), tree, path)
		var budget *gitdiff.BudgetError
		if err != nil && !errors.As(err, &budget) || content != nil && err != nil {
			t.Fatalf("%s: %d bytes, error %v", path, len(content), err)
		}
		if budget == nil {
			return ""
		}
		return budget.Code
	}

	few := b.Objects.Files(3, 1<<20)
	for i, want := range []gitdiff.Code{"", "", "", gitdiff.TooManyFiles, gitdiff.TooManyFiles} {
		if got := spent(few, "small"); got != want {
			t.Errorf("read %d of a file of three: %q, want %q", i+1, got, want)
		}
	}
	root := int64(len("100644 small\x00100644 large\x0040000 d\x00") + 3*20)
	tight := b.Objects.Files(100, root+25)
	for i, want := range []struct {
		path string
		code gitdiff.Code
	}{{"small", ""}, {"large", gitdiff.TotalTooLarge}, {"small", ""}, {"small", gitdiff.TotalTooLarge}, {"d/f", gitdiff.TotalTooLarge}} {
		if got := spent(tight, want.path); got != want.code {
			t.Errorf("read %d, of %s: %q, want %q", i+1, want.path, got, want.code)
		}
	}
	if got := spent(b.Objects.Files(100, root-1), "small"); got != gitdiff.TotalTooLarge {
		t.Errorf("the directory costs nothing: %q", got)
	}
}

func TestFilesOfATreeMustHaveTheirIDs(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{"a": "one\n", "b": "two\n"})
	tree := b.Head(t).Tree
	object := func(name string) string {
		id := b.Git(t, "rev-parse", "HEAD:"+name)
		return b.Dir + "/.git/objects/" + id[:2] + "/" + id[2:]
	}
	other, err := os.ReadFile(object("b"))
	gitdifftest.Must(t, err)
	gitdifftest.Must(t, os.Remove(object("a")))
	var missing *gitobj.MissingError
	if _, err := b.Objects.Files(9, 1<<20).Read(t.Context(), tree, "a"); !errors.As(err, &missing) {
		t.Errorf("the object is not there: %v", err)
	}
	gitdifftest.Must(t, os.WriteFile(object("a"), other, 0o444))
	if got, err := b.Objects.Files(9, 1<<20).Read(t.Context(), tree, "a"); err == nil || !strings.Contains(err.Error(), "corrupt") {
		t.Errorf("content of another object: %q, error %v", got, err)
	}
}
