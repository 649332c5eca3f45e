package reader

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/capture"
	"sandboxrun/gitdiff/change"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/workspace"
	"sandboxrun/runner/scan"
)

// What a child says is what this process finds when it reads the same tree.
func TestAChildFindsWhatThisProcessFinds(t *testing.T) {
	t.Parallel()
	for _, layout := range []workspace.Layout{workspace.LayoutCopy, workspace.LayoutOverlay} {
		t.Run(string(layout), func(t *testing.T) {
			t.Parallel()
			s := newSite(t, layout, baseFiles, edit(t))
			if layout == workspace.LayoutCopy {
				gitdifftest.Must(t, os.Remove(filepath.Join(s.tree.WatchDir(), "d/moved")))
			}
			w := s.work(t, nil)
			var told []string
			got, err := read(t, w, Progress{
				Captured: func(c *capture.Snapshot) { told = append(told, "captured "+c.Tree) },
				Compared: func(*change.Diff) { told = append(told, "compared") },
				Searched: func() { told = append(told, "searched") },
			})
			gitdifftest.Must(t, err)
			snap, err := capture.Capture(t.Context(), *w.Source)
			gitdifftest.Must(t, err)
			diff, err := change.Compare(t.Context(), s.Objects, s.base.Tree, snap.Tree)
			gitdifftest.Must(t, err)
			in, err := diff.Inspect(t.Context(), w.MaxFile)
			gitdifftest.Must(t, err)
			var patch bytes.Buffer
			gitdifftest.Must(t, diff.WritePatch(t.Context(), &patch))
			written, err := os.ReadFile(w.Patch)
			gitdifftest.Must(t, err)
			same := cmp.Options{cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(change.Change{})}
			for what, d := range map[string]string{
				"snapshot": cmp.Diff(snap, got.Snapshot, same), "changes": cmp.Diff(diff.Changes, got.Diff.Changes, same),
				"inspection": cmp.Diff(in, got.Inspection, same), "patch": cmp.Diff(patch.String(), string(written)),
				"search": cmp.Diff(&scan.Leaks{}, got.Leaks), "told": cmp.Diff([]string{"captured " + snap.Tree, "compared", "searched"}, told),
			} {
				if d != "" {
					t.Errorf("%s: %s", what, d)
				}
			}
			if !got.Patched || len(diff.Changes) < 4 || len(in.Findings) == 0 {
				t.Errorf("patched %v, %d changes, findings %v", got.Patched, len(diff.Changes), in.Findings)
			}
		})
	}
}

func TestAKnownSecretLeavesAnEmptyPatch(t *testing.T) {
	t.Parallel()
	const secret = "not-a-real-key-0123456789"
	s := newSite(t, workspace.LayoutCopy, baseFiles, func(dir string) { gitdifftest.WriteFiles(t, dir, map[string]string{"f": "x " + secret + "\n"}) })
	w := s.work(t, map[string]string{"key": secret})
	got, err := read(t, w, Progress{})
	gitdifftest.Must(t, err)
	if got.Leaks == nil || !got.Leaks.Known || got.Patched || len(got.Leaks.Places) != 1 || !strings.Contains(got.Leaks.Places[0].What, "the value of key") {
		t.Errorf("leaks %+v, patched %v", got.Leaks, got.Patched)
	}
	if info, err := os.Stat(w.Patch); err != nil || info.Size() != 0 {
		t.Errorf("patch %v, %v", info, err)
	}
}

func TestAnUnchangedTreeNeedsNoSearch(t *testing.T) {
	t.Parallel()
	s := newSite(t, workspace.LayoutOverlay, baseFiles, func(string) {})
	got, err := read(t, s.work(t, nil), Progress{})
	gitdifftest.Must(t, err)
	if got.Snapshot.Tree != s.base.Tree || got.Diff == nil || len(got.Diff.Changes) != 0 || got.Leaks != nil || got.Patched {
		t.Errorf("got %+v", got)
	}
}

func TestATreeThatWasCapturedBeforeIsReadFromObjects(t *testing.T) {
	t.Parallel()
	s := newSite(t, workspace.LayoutCopy, baseFiles, edit(t))
	w := s.work(t, nil)
	first, err := read(t, w, Progress{})
	gitdifftest.Must(t, err)
	again := w
	again.Source, again.To, again.Patch = nil, first.Snapshot.Tree, w.Patch+"-again"
	got, err := read(t, again, Progress{})
	gitdifftest.Must(t, err)
	one, err := os.ReadFile(w.Patch)
	gitdifftest.Must(t, err)
	two, err := os.ReadFile(again.Patch)
	gitdifftest.Must(t, err)
	if got.Snapshot != nil || !got.Patched || !bytes.Equal(one, two) || len(one) == 0 {
		t.Errorf("snapshot %v, patched %v, patches of %d and %d bytes", got.Snapshot, got.Patched, len(one), len(two))
	}
}

func TestErrorsKeepTheirMeaningOnTheWay(t *testing.T) {
	t.Parallel()
	s := newSite(t, workspace.LayoutCopy, baseFiles, edit(t))
	small := s.work(t, nil)
	small.Source.Budget.Files = 2
	var budget *gitdiff.BudgetError
	if got, err := read(t, small, Progress{}); !errors.As(err, &budget) || budget.Code != gitdiff.TooManyFiles || budget.Limit != 2 || got.Snapshot != nil {
		t.Errorf("budget: %v, %+v", err, got)
	}
	full := s.work(t, nil)
	full.Source.Budget.FreeBytes = 1 << 60
	if _, err := read(t, full, Progress{}); err == nil || !strings.Contains(err.Error(), "bytes free and must keep") {
		t.Errorf("floor: %v", err)
	}
	taken := s.work(t, nil)
	gitdifftest.Must(t, os.WriteFile(taken.Patch, nil, 0o600))
	if _, err := read(t, taken, Progress{}); err == nil || !strings.Contains(err.Error(), "file exists") {
		t.Errorf("patch that exists: %v", err)
	}
	c := Program{Path: filepath.Join(t.TempDir(), "missing")}.Start()
	defer c.Stop()
	if _, err := c.Read(t.Context(), s.work(t, nil), Progress{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing program: %v", err)
	}
	none := Program{}.Start()
	none.Stop()
	if _, err := none.Read(t.Context(), s.work(t, nil), Progress{}); err == nil {
		t.Error("a program without a path was started")
	}
}

// A child that waits for work ends when it is stopped, and a nil one is none.
func TestAChildWithoutWorkIsStopped(t *testing.T) {
	t.Parallel()
	c := Program{Path: built}.Start()
	began := time.Now()
	c.Stop()
	c.Stop()
	(*Child)(nil).Stop()
	if took := time.Since(began); took > time.Second {
		t.Errorf("took %s", took)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("over"))
	s := newSite(t, workspace.LayoutCopy, baseFiles, edit(t))
	late := Program{Path: built}.Start()
	defer late.Stop()
	if _, err := late.Read(ctx, s.work(t, nil), Progress{}); err == nil || err.Error() != "over" {
		t.Errorf("a context that has ended: %v", err)
	}
}
