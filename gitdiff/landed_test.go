package gitdiff

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What a dead landing left is told from what is another's by the commit alone.
func TestTheRemainsOfADeadLandingGoAndThoseOfOthersStay(t *testing.T) {
	t.Parallel()
	b := newBench(t, landBase)
	dead, other := b.head(t).ID, worked(t, b)
	branch := BranchPrefix + "t"
	git := filepath.Join(b.dir, ".git")
	ours := map[string]string{
		branch + "." + dead + "-123.lock":             dead + "\n",
		branch + ".lock":                              dead + "\n",
		"objects/pack/" + stagePrefix + dead + "-1/x": "half",
		"objects/pack/pack-" + other + ".keep":        keepPrefix + dead + "\n",
		"objects/pack/pack-" + other + ".pack":        "without an index",
	}
	theirs := map[string]string{
		branch + "2.lock":                              dead + "\n",
		branch + "." + other + "-123.lock":             other + "\n",
		"objects/pack/" + stagePrefix + other + "-1/x": "half",
		"objects/pack/pack-" + dead + ".keep":          keepPrefix + other + "\n",
		"objects/pack/pack-1.keep":                     "",
	}
	for _, files := range []map[string]string{ours, theirs} {
		for name, text := range files {
			path := filepath.Join(git, name)
			must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)))
		}
	}
	landed, err := b.repo.Landed(dead, branch)
	if err != nil || landed {
		t.Errorf("landed %v, %v", landed, err)
	}
	for name := range ours {
		if _, err := os.Lstat(filepath.Join(git, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
	for name := range theirs {
		if _, err := os.Lstat(filepath.Join(git, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestALockOfAnotherOnTheSameBranchStays(t *testing.T) {
	t.Parallel()
	b := newBench(t, landBase)
	lock := filepath.Join(b.dir, ".git", BranchPrefix+"t.lock")
	must(t, os.MkdirAll(filepath.Dir(lock), 0o755))
	for _, text := range []string{"", "another\n"} {
		must(t, os.WriteFile(lock, []byte(text), 0o600))
		if landed, err := b.repo.Landed(b.head(t).ID, BranchPrefix+"t"); err != nil || landed {
			t.Errorf("landed %v, %v", landed, err)
		}
		if _, err := os.Lstat(lock); err != nil {
			t.Errorf("lock with %q: %v", text, err)
		}
	}
}

func TestABranchThatWasMadeIsFoundLooseAndPacked(t *testing.T) {
	t.Parallel()
	b := newBench(t, landBase)
	id := b.land(t.Context(), t, "t", worked(t, b))
	for range 2 {
		if landed, err := b.repo.Landed(id, BranchPrefix+"t"); err != nil || !landed {
			t.Errorf("landed %v, %v", landed, err)
		}
		b.git(t, "pack-refs", "--all")
	}
	if landed, err := b.repo.Landed(b.head(t).ID, BranchPrefix+"t"); err != nil || landed {
		t.Errorf("another commit on the branch: %v, %v", landed, err)
	}
	if _, err := b.repo.Landed(id, "refs/heads/main"); err == nil {
		t.Error("a branch that is not ours was looked at")
	}
}

func TestSweepRemovesOldFilesNobodyFinishes(t *testing.T) {
	t.Parallel()
	s := NewStore(t.TempDir())
	long := time.Now().Add(-2 * halfAge)
	for _, name := range []string{".config123", "objects/pack/tmp_obj_1", "objects/info/.alternates7"} {
		for _, in := range []string{"old.git", "new.git"} {
			path := filepath.Join(s.dir, "stores", in, name)
			must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)))
			if in == "old.git" {
				must(t, os.Chtimes(path, long, long))
			}
		}
	}
	must(t, s.Sweep())
	for in, want := range map[string]int{"old.git": 0, "new.git": 3} {
		left := 0
		must(t, filepath.WalkDir(filepath.Join(s.dir, "stores", in), func(_ string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				left++
			}
			return err
		}))
		wantEqual(t, in, left, want)
	}
}

func TestSweepRemovesBasesNobodyBuilds(t *testing.T) {
	t.Parallel()
	s := NewStore(t.TempDir())
	dir := filepath.Join(s.dir, "bases", "k")
	for _, name := range []string{"dead", "live"} {
		must(t, os.MkdirAll(filepath.Join(dir, name+".building", "tree"), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, name+".lock"), nil, 0o600))
	}
	held, err := lock(t.Context(), filepath.Join(dir, "live.lock"), false)
	must(t, err)
	must(t, s.Sweep())
	for name, want := range map[string]bool{"dead": false, "live": true} {
		if _, err := os.Stat(filepath.Join(dir, name+".building")); (err == nil) != want {
			t.Errorf("%s.building is there: %v, want %v", name, err == nil, want)
		}
	}
	must(t, held.unlock())
}
