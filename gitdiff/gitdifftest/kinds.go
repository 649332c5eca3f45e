package gitdifftest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Sample makes a repository with two commits and one of everything a work tree commonly holds: directories, an
// executable, links (one dangling, one pointing outside), an empty file, an LFS pointer, names with spaces, quotes and
// other bytes, and attributes with which git would change the bytes of a file it checks out.
func Sample(t testing.TB) *Repository {
	t.Helper()
	r := New(t)
	r.Write("README.md", "# sample\n")
	r.Write("src/main.go", "package main\n\nfunc main() {}\n")
	r.Commit("one")
	r.Write("src/deep/er/file.txt", "deep $Id$\n")
	r.Write("src/tool.sh", "#!/bin/sh\nexit 0\n")
	r.Write("empty", "")
	r.Write(".gitattributes", "*.txt text eol=crlf ident\n*.bin filter=lfs\n")
	r.Write("name with \"quotes\" and space", "q\n")
	r.Write("not-utf8-\xff\xfe", "bytes\n")
	r.Write("model.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:"+strings.Repeat("ab", 32)+"\nsize 12345\n")
	r.Link("link", "src/main.go")
	r.Link("dangling", "nowhere")
	r.Link("out", "/etc/hostname")
	if err := os.Chmod(filepath.Join(r.Dir, "src/tool.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.Commit("two")
	return r
}

// Generated makes a repository of the given number of files of some hundred bytes to some kilobytes in directories of
// about 25, quickly, with one commit. Its work tree is empty unless checked out.
func Generated(t testing.TB, files int) *Repository {
	t.Helper()
	r := New(t)
	var in strings.Builder
	in.WriteString("commit refs/heads/main\ncommitter A <a@example.com> 1700000000 +0000\ndata 3\none\n")
	for i := range files {
		lines := 5 + (i*7919)%100
		var text strings.Builder
		for n := range lines {
			fmt.Fprintf(&text, "line %d of file %d: %d\n", n, i, (i+1)*(n+31)%104729)
		}
		fmt.Fprintf(&in, "M 100644 inline d%02d/e%02d/file%06d.txt\ndata %d\n%s\n", i%97, i/97%(1+files/2500), i, text.Len(), text.String())
	}
	r.run(in.String(), "fast-import", "--quiet")
	return r
}

// Bare clones the repository into a bare one.
func (r *Repository) Bare() *Repository { return r.clone("bare.git", r.Dir, "--bare") }

// Shallow clones the last commit of the repository only.
func (r *Repository) Shallow() *Repository { return r.clone("shallow", "file://"+r.Dir, "--depth=1") }

// Borrowing clones the repository so that the clone has no objects of its own but names this one as alternate.
func (r *Repository) Borrowing() *Repository { return r.clone("borrowing", r.Dir, "--shared") }

func (r *Repository) clone(name, source string, args ...string) *Repository {
	r.t.Helper()
	dir := filepath.Join(r.t.TempDir(), name)
	r.Git(append(append([]string{"clone", "--quiet", "--no-hardlinks"}, args...), source, dir)...)
	return At(r.t, dir)
}

// Worktree adds a linked work tree on a new branch of that name.
func (r *Repository) Worktree(branch string) *Repository {
	r.t.Helper()
	dir := filepath.Join(r.t.TempDir(), branch)
	r.Git("worktree", "add", "--quiet", "-b", branch, dir)
	return At(r.t, dir)
}

// WithSubmodule adds another repository as the submodule at path and commits it.
func (r *Repository) WithSubmodule(path string, sub *Repository) *Repository {
	r.t.Helper()
	r.Git("submodule", "--quiet", "add", sub.Dir, path)
	r.Commit("submodule " + path)
	return r
}
