package check

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/capture"
	"sandboxrun/gitdiff/change"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
	"sandboxrun/gitdiff/workspace"
)

// work is the evidence of a box that did something to a plain copy of the commit's files. Afterwards the files say something
// else: whoever reads them and not the captured objects notices.
func work(t *testing.T, b *workbench.Bench, maxFiles int, maxBytes int64, do func(dir string)) Evidence {
	t.Helper()
	base := b.Head(t)
	w, err := workspace.New(t.Context(), b.Objects, workspace.Spec{
		Dir: filepath.Join(t.TempDir(), "w"), Layout: workspace.LayoutCopy, Base: base, UID: os.Getuid(), GID: os.Getgid(),
	})
	gitdifftest.Must(t, err)
	workbench.CloseLater(t, w)
	dir := w.WatchDir()
	do(dir)
	snap, err := w.Snapshot(t.Context(), capture.DefaultBudget())
	gitdifftest.Must(t, err)
	gitdifftest.WriteFiles(t, dir, map[string]string{"kept": "live", "edited": "live"})
	diff, err := change.Compare(t.Context(), b.Objects, base.Tree, snap.Tree)
	gitdifftest.Must(t, err)
	return Evidence{Changes: diff.Changes, Findings: snap.Findings, Files: newFiles(b.Objects, base.Tree, snap.Tree, maxFiles, maxBytes)}
}

func TestEvidenceReadsFilesOfBothTrees(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{"kept": "kept\n", "edited": "before\n", "gone": "gone\n", "d/f": "f\n"})
	sub := gitdifftest.New(t)
	sub.Write("inside", "inside\n")
	sub.Commit("inside")
	gitdifftest.At(t, b.Dir).WithSubmodule("sub", sub)
	b.Open(t)
	e := work(t, b, maxFilesRead, maxBytesRead, func(dir string) {
		gitdifftest.WriteFiles(t, dir, map[string]string{"edited": "after\x00\xff", "d/new": "new\n", "d/out": "-> ../../kept", "linked": "-> d"})
		gitdifftest.Must(t, os.Remove(filepath.Join(dir, "gone")))
	})
	const (
		missing = "file does not exist"
		link    = "is a symbolic link"
	)
	for path, want := range map[string][2]string{ // in the base and in the captured tree
		"kept": {"kept\n", "kept\n"}, "edited": {"before\n", "after\x00\xff"}, "gone": {"gone\n", missing}, "d/new": {missing, "new\n"},
		"d/out": {missing, link}, "linked/f": {missing, link}, "d": {"is a directory", "is a directory"},
		"sub": {"is a submodule", "is a submodule"}, "sub/inside": {"is a submodule", "is a submodule"},
		"d/../kept": {missing, missing}, "/etc/passwd": {missing, missing},
	} {
		for tree, want := range map[Tree]string{Base: want[0], Captured: want[1]} {
			content, err := e.ReadFile(t.Context(), tree, path)
			got := string(content)
			var not *gitdiff.NotFileError
			switch {
			case errors.Is(err, fs.ErrNotExist):
				got = missing
			case errors.As(err, &not):
				got = "is " + not.What
			case err != nil:
				t.Errorf("%s of tree %d: %v", path, tree, err)
				continue
			}
			if got != want {
				t.Errorf("%s of tree %d: %q, want %q", path, tree, got, want)
			}
		}
	}
	if _, err := (Evidence{}).ReadFile(t.Context(), Base, "kept"); err == nil {
		t.Error("evidence without trees has files")
	}
}

// sameText passes when every changed path that both trees have has the same bytes in both: a check that reads.
type sameText struct{}

func (sameText) Check(ctx context.Context, e Evidence) (Verdict, error) {
	for _, c := range e.Changes {
		was, err := e.ReadFile(ctx, Base, c.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Verdict{}, err
		}
		now, err := e.ReadFile(ctx, Captured, c.Name)
		if err != nil {
			return Verdict{}, err
		}
		if !bytes.Equal(was, now) {
			return clipped(Fail, "other bytes", []string{c.Name}), nil
		}
	}
	return Verdict{Verdict: Pass, Evidence: "the same bytes"}, nil
}

func TestASpentBudgetIsUnverifiable(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{"edited": "before\n", "large": strings.Repeat("x", 100_000)})
	edit := func(dir string) { gitdifftest.WriteFiles(t, dir, map[string]string{"edited": "after\n"}) }
	chmod := func(dir string) { gitdifftest.Must(t, os.Chmod(filepath.Join(dir, "large"), 0o755)) } // #nosec G302 -- a mode to be captured
	for name, tt := range map[string]struct {
		do       func(string)
		maxFiles int
		maxBytes int64
		want     Outcome
		says     string
	}{
		"nothing changed":  {func(string) {}, 0, 0, Pass, "the same bytes"},
		"within":           {edit, 2, 1000, Fail, `other bytes: "edited"`},
		"beyond the files": {edit, 1, 1000, Unverifiable, "more than 1 files"},
		"beyond the bytes": {edit, 2, 50, Unverifiable, "more than 50 bytes of files"},
		"a large file":     {chmod, 2, 100_000, Unverifiable, "more than 100000 bytes of files"},
		"a file that fits": {chmod, 2, 300_000, Pass, "the same bytes"},
	} {
		v, err := Judge(t.Context(), sameText{}, work(t, b, tt.maxFiles, tt.maxBytes, tt.do))
		if err != nil || v.Verdict != tt.want || !strings.Contains(v.Evidence, tt.says) {
			t.Errorf("%s: %+v, error %v, want %s with %q", name, v, err, tt.want, tt.says)
		}
	}
}

// The checks of a run share one budget.
func TestChecksShareTheBudgetOfTheirRun(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{"edited": "before\n"})
	e := work(t, b, 3, 1000, func(dir string) { gitdifftest.WriteFiles(t, dir, map[string]string{"edited": "after\n"}) })
	for i, want := range []Outcome{Fail, Unverifiable, Unverifiable} {
		if v, err := Judge(t.Context(), sameText{}, e); err != nil || v.Verdict != want {
			t.Errorf("check %d: %+v, error %v, want %s", i+1, v, err, want)
		}
	}
}

// Nothing was judged where a check failed for another reason.
func TestAFailedCheckIsNoVerdict(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{"f": "f\n"})
	e := work(t, b, 10, 1000, func(dir string) {
		gitdifftest.Must(t, os.Remove(filepath.Join(dir, "f")))
		gitdifftest.WriteFiles(t, dir, map[string]string{"f": "-> /etc/passwd"})
	})
	v, err := Judge(t.Context(), sameText{}, e)
	var not *gitdiff.NotFileError
	if !errors.As(err, &not) || v.Verdict != "" {
		t.Errorf("%+v, error %v", v, err)
	}
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("stopped"))
	if v, err := Judge(ended, sameText{}, e); err == nil || v.Verdict != "" {
		t.Errorf("after the end of its context: %+v, error %v", v, err)
	}
}
