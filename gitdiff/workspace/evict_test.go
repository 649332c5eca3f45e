package workspace

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
)

// threeBases makes a store with the bases of three commits, used one hour after another, the last one now and held.
func threeBases(t *testing.T) (s *gitdiff.Store, dirs []string) {
	t.Helper()
	r := gitdifftest.New(t)
	for _, text := range []string{"one", "two", "three"} {
		r.Write("file", text)
		r.Commit(text)
	}
	s = gitdiff.NewStore(filepath.Join(t.TempDir(), "state"))
	repo := workbench.Open(t, r)
	o := workbench.For(t, s, repo)
	for i, rev := range []string{"HEAD~2", "HEAD~1", "HEAD"} {
		w := mustWorkspace(t, o, LayoutOverlay, workbench.Resolve(t, repo, rev), "")
		dirs = append(dirs, w.base.dir)
		if rev == "HEAD" {
			continue
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		used := time.Now().Add(time.Duration(i-2) * time.Hour)
		if err := os.Chtimes(dirs[i]+".lock", used, used); err != nil {
			t.Fatal(err)
		}
	}
	return s, dirs
}

func TestEvictRemovesWhatIsOldOrTooMuchAndUnused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		maxAge   time.Duration
		maxBytes int64
		kept     []bool
	}{
		{"nothing", 24 * time.Hour, 1 << 40, []bool{true, true, true}},
		{"old", 90 * time.Minute, 1 << 40, []bool{false, true, true}},
		{"too much", 24 * time.Hour, 0, []bool{false, false, true}},
		{"all but the one in use", 0, 0, []bool{false, false, true}},
	} {
		s, dirs := threeBases(t)
		freed, err := Evict(context.Background(), s, c.maxAge, c.maxBytes)
		if err != nil {
			t.Fatal(err)
		}
		gone := 0
		for i, dir := range dirs {
			_, err := os.Stat(dir)
			if _, lockErr := os.Stat(dir + ".lock"); (err == nil) != (lockErr == nil) {
				t.Errorf("%s: base %d: %v, its lock: %v", c.name, i, err, lockErr)
			}
			if (err == nil) != c.kept[i] {
				t.Errorf("%s: base %d: %v", c.name, i, err)
			}
			if err != nil {
				gone++
			}
		}
		if (freed > 0) != (gone > 0) {
			t.Errorf("%s: %d bases gone, %d bytes freed", c.name, gone, freed)
		}
	}
}

func TestEvictedBaseIsMadeAnew(t *testing.T) {
	t.Parallel()
	repo := workbench.Open(t, gitdifftest.Sample(t))
	o := workbench.Objects(t, repo)
	c := workbench.Resolve(t, repo, "HEAD")
	for range 2 {
		w := mustWorkspace(t, o, LayoutOverlay, c, "")
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if freed, err := Evict(context.Background(), o.Store(), 0, 0); err != nil || freed == 0 {
			t.Fatalf("freed %d, %v", freed, err)
		}
	}
}

func TestSweepRemovesBasesNobodyBuilds(t *testing.T) {
	t.Parallel()
	s := gitdiff.NewStore(t.TempDir())
	dir := filepath.Join(s.Dir(), "bases", "k")
	for _, name := range []string{"dead", "live"} {
		gitdifftest.Must(t, os.MkdirAll(filepath.Join(dir, name+".building", "tree"), 0o700))
		gitdifftest.Must(t, os.WriteFile(filepath.Join(dir, name+".lock"), nil, 0o600))
	}
	held, err := lock(t.Context(), filepath.Join(dir, "live.lock"), false)
	gitdifftest.Must(t, err)
	gitdifftest.Must(t, Sweep(s))
	for name, want := range map[string]bool{"dead": false, "live": true} {
		if _, err := os.Stat(filepath.Join(dir, name+".building")); (err == nil) != want {
			t.Errorf("%s.building is there: %v, want %v", name, err == nil, want)
		}
	}
	gitdifftest.Must(t, held.unlock())
}
