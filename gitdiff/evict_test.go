package gitdiff

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sandboxrun/gitdiff/gitdifftest"
)

// threeBases makes a store with the bases of three commits, used one hour after another, the last one now and held.
func threeBases(t *testing.T) (s *Store, dirs []string) {
	t.Helper()
	r := gitdifftest.New(t)
	for _, text := range []string{"one", "two", "three"} {
		r.Write("file", text)
		r.Commit(text)
	}
	s = NewStore(filepath.Join(t.TempDir(), "state"))
	repo := mustOpen(t, r)
	o := mustFor(t, s, repo)
	for i, rev := range []string{"HEAD~2", "HEAD~1", "HEAD"} {
		w := mustWorkspace(t, o, LayoutOverlay, mustResolve(t, repo, rev), "")
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
		freed, err := s.Evict(context.Background(), c.maxAge, c.maxBytes)
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
	repo := mustOpen(t, gitdifftest.Sample(t))
	o := mustObjects(t, repo)
	c := mustResolve(t, repo, "HEAD")
	for range 2 {
		w := mustWorkspace(t, o, LayoutOverlay, c, "")
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if freed, err := o.store.Evict(context.Background(), 0, 0); err != nil || freed == 0 {
			t.Fatalf("freed %d, %v", freed, err)
		}
	}
}
