package reader

import (
	"os"
	"path/filepath"
	"testing"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/capture"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
	"sandboxrun/gitdiff/workspace"
	"sandboxrun/internal/redact"
	"sandboxrun/runner/scan"
)

// site is a repository and the tree of a box over its commit.
type site struct {
	*workbench.Bench
	tree *workspace.Workspace
	base gitdiff.Commit
}

// newSite makes a tree over a commit of files, and does something to it.
func newSite(t testing.TB, layout workspace.Layout, files map[string]string, do func(dir string)) *site {
	t.Helper()
	s := &site{Bench: workbench.New(t, files)}
	s.base = s.Head(t)
	var err error
	s.tree, err = workspace.New(t.Context(), s.Objects, workspace.Spec{
		Dir: filepath.Join(t.TempDir(), "w"), Layout: layout, Base: s.base, UID: os.Getuid(), GID: os.Getgid(),
	})
	gitdifftest.Must(t, err)
	workbench.CloseLater(t, s.tree)
	do(s.tree.WatchDir())
	return s
}

// work is the capture and the reading of the site's tree.
func (s *site) work(t testing.TB, secrets map[string]string) Work {
	t.Helper()
	src, err := s.tree.Source(capture.DefaultBudget())
	gitdifftest.Must(t, err)
	known := &redact.Redactor{}
	for name, value := range secrets {
		gitdifftest.Must(t, known.Add(name, value))
	}
	return Work{Objects: s.Objects, Source: &src, From: s.base.Tree, MaxFile: 1 << 20, Search: scan.Policy{Secrets: known},
		Patch: filepath.Join(t.TempDir(), "diff.patch")}
}

// read has a child of the built program do the work.
func read(t testing.TB, w Work, tell Progress) (Reading, error) {
	t.Helper()
	c := Program{Path: built}.Start()
	defer c.Stop()
	return c.Read(t.Context(), w, tell)
}

// edit is what the box of most tests does.
func edit(t testing.TB) func(dir string) {
	t.Helper()
	return func(dir string) {
		gitdifftest.WriteFiles(t, dir, map[string]string{"edited": "a\nB\nc\n", "new \xff": "new\n", "moved": "one\ntwo\nthree\nfour\n", "out": "-> ../../etc/passwd"})
	}
}

var baseFiles = map[string]string{"edited": "a\nb\nc\n", "kept": "kept\n", "d/moved": "one\ntwo\nthree\nfour\n"}
