package land

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
)

// What a dead landing left is told from what is another's by the commit alone.
func TestTheRemainsOfADeadLandingGoAndThoseOfOthersStay(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, landBase)
	dead, other := b.Head(t).ID, worked(t, b)
	branch := BranchPrefix + "t"
	git := filepath.Join(b.Dir, ".git")
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
			gitdifftest.Must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)))
		}
	}
	landed, err := Landed(b.Repo, dead, branch)
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
	b := workbench.New(t, landBase)
	lock := filepath.Join(b.Dir, ".git", BranchPrefix+"t.lock")
	gitdifftest.Must(t, os.MkdirAll(filepath.Dir(lock), 0o755))
	for _, text := range []string{"", "another\n"} {
		gitdifftest.Must(t, os.WriteFile(lock, []byte(text), 0o600))
		if landed, err := Landed(b.Repo, b.Head(t).ID, BranchPrefix+"t"); err != nil || landed {
			t.Errorf("landed %v, %v", landed, err)
		}
		if _, err := os.Lstat(lock); err != nil {
			t.Errorf("lock with %q: %v", text, err)
		}
	}
}

func TestABranchThatWasMadeIsFoundLooseAndPacked(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, landBase)
	id := mustLand(t.Context(), t, b, "t", worked(t, b))
	for range 2 {
		if landed, err := Landed(b.Repo, id, BranchPrefix+"t"); err != nil || !landed {
			t.Errorf("landed %v, %v", landed, err)
		}
		b.Git(t, "pack-refs", "--all")
	}
	if landed, err := Landed(b.Repo, b.Head(t).ID, BranchPrefix+"t"); err != nil || landed {
		t.Errorf("another commit on the branch: %v, %v", landed, err)
	}
	if _, err := Landed(b.Repo, id, "refs/heads/main"); err == nil {
		t.Error("a branch that is not ours was looked at")
	}
}
