package land

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"

	"github.com/go-git/go-git/v5/plumbing"
)

// D14: whatever an id is, the branch is one safe component below the prefix, and different ids do not share one.
func TestBranchName(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"task-1", "01JB3K", "a.b_c-D", strings.Repeat("x", 128)} {
		if name, err := BranchName(id); err != nil || name != BranchPrefix+id {
			t.Errorf("BranchName(%q) = %q, %v", id, name, err)
		}
	}
	safe := regexp.MustCompile(`^refs/heads/sandboxrun/[a-z0-9-]{1,64}$`)
	seen := map[string]string{}
	for _, id := range []string{
		"../../hooks/x", "-x", "a..b", "@{-1}", "x.lock", ".x", "x.", "HEAD/x", "\x1b[31m", strings.Repeat("x", 300), "😀", "a b", "a\x00b", "é", "É", "@",
	} {
		name, err := BranchName(id)
		if err != nil || !safe.MatchString(name) || plumbing.ReferenceName(name).Validate() != nil {
			t.Errorf("BranchName(%q) = %q, %v", id, name, err)
		}
		if other, double := seen[name]; double {
			t.Errorf("%q and %q share %s", id, other, name)
		}
		seen[name] = id
	}
	if _, err := BranchName(""); err == nil {
		t.Error("no error for an empty id")
	}
}

func TestCheckRefAndLandRefuseWhatIsThere(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		prepare func(t *testing.T, b *workbench.Bench)
		want    func(error) bool
	}{
		"loose": {func(t *testing.T, b *workbench.Bench) { b.Git(t, "branch", "sandboxrun/t") }, isRefExists},
		"packed": {func(t *testing.T, b *workbench.Bench) {
			b.Git(t, "branch", "sandboxrun/t")
			b.Git(t, "pack-refs", "--all")
		}, isRefExists},
		"D15 the prefix is a branch": {func(t *testing.T, b *workbench.Bench) { b.Git(t, "branch", "sandboxrun") }, isRefConflict},
		"D15 the prefix is a packed branch": {func(t *testing.T, b *workbench.Bench) {
			b.Git(t, "branch", "sandboxrun")
			b.Git(t, "pack-refs", "--all")
		}, isRefConflict},
		"D15 a branch below": {func(t *testing.T, b *workbench.Bench) { b.Git(t, "branch", "sandboxrun/t/x") }, isRefConflict},
		"D15 a packed branch below": {func(t *testing.T, b *workbench.Bench) {
			b.Git(t, "branch", "sandboxrun/t/x")
			b.Git(t, "pack-refs", "--all")
		}, isRefConflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := workbench.New(t, landBase)
			tc.prepare(t, b)
			refs := b.Git(t, "for-each-ref")
			if err := CheckRef(b.Repo, BranchPrefix+"t"); !tc.want(err) {
				t.Errorf("CheckRef: %v", err)
			}
			if _, err := Land(t.Context(), b.Repo, b.Objects, landing(t, b, "t", b.Head(t).Tree)); !tc.want(err) {
				t.Errorf("Land: %v", err)
			}
			if err := createRef(t.Context(), b.Repo, BranchPrefix+"t", b.Head(t).ID, nil); err == nil {
				t.Error("createRef made it")
			}
			gitdifftest.Equal(t, "references", b.Git(t, "for-each-ref"), refs)
		})
	}
}

func isRefExists(err error) bool { return errors.Is(err, ErrRefExists) }
func isRefConflict(err error) bool {
	var c *ConflictError
	return errors.As(err, &c) && strings.HasPrefix(c.With, "refs/heads/sandboxrun")
}

func TestCheckRefRefusesNamesOfOthers(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, landBase)
	gitdifftest.Must(t, CheckRef(b.Repo, BranchPrefix+"free"))
	for _, name := range []string{"", "HEAD", "refs/heads/main", "refs/heads/sandboxrun", BranchPrefix, BranchPrefix + "a/b", BranchPrefix + "../../../x", BranchPrefix + "x.lock"} {
		if err := CheckRef(b.Repo, name); !errors.Is(err, plumbing.ErrInvalidReferenceName) {
			t.Errorf("CheckRef(%q) = %v", name, err)
		}
	}
}

// D11: a lock left behind is waited for and then named; other locks are in nobody's way.
func TestLandRespectsTheLockOfTheBranchOnly(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, landBase)
	tree := worked(t, b)
	for _, lock := range []string{"index.lock", "HEAD.lock", "packed-refs.lock", "shallow.lock", "gc.pid", "config.lock", "refs/heads/main.lock"} {
		gitdifftest.Must(t, os.WriteFile(filepath.Join(b.Dir, ".git", lock), nil, 0o644))
	}
	mustLand(t.Context(), t, b, "free", tree)
	lock := filepath.Join(b.Dir, ".git", BranchPrefix+"held.lock")
	gitdifftest.Must(t, os.WriteFile(lock, nil, 0o644))
	if _, err := Land(t.Context(), b.Repo, b.Objects, landing(t, b, "held", b.Head(t).Tree)); !errors.Is(err, ErrRefLocked) {
		t.Errorf("error = %v, want %v", err, ErrRefLocked)
	}
	if _, err := os.Stat(lock); err != nil {
		t.Errorf("somebody else's lock is gone: %v", err)
	}
}

func TestLandReplacesEmptyDirectoriesOfOldBranches(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, landBase)
	gitdifftest.Must(t, os.MkdirAll(filepath.Join(b.Dir, ".git", BranchPrefix+"t/x/y"), 0o755))
	id := mustLand(t.Context(), t, b, "t", worked(t, b))
	gitdifftest.Equal(t, "branch", b.Git(t, "rev-parse", "sandboxrun/t"), id)
}

// Two landings under one name at the same time: one wins, the other is told.
func TestLandIsCreateOnlyUnderContention(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, landBase)
	id := b.Head(t).ID
	errs := make(chan error)
	for range 8 {
		go func() { errs <- createRef(t.Context(), b.Repo, BranchPrefix+"t", id, nil) }()
	}
	made := 0
	for range 8 {
		switch err := <-errs; {
		case err == nil:
			made++
		case !errors.Is(err, ErrRefExists) && !errors.Is(err, ErrRefLocked):
			t.Errorf("error = %v", err)
		}
	}
	gitdifftest.Equal(t, "made", made, 1)
}

// A runner that is root leaves nothing behind that the owner of the repository could not remove.
func TestLandKeepsOwnerAndModes(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	b := workbench.New(t, landBase)
	tree := worked(t, b)
	gitdifftest.Must(t, filepath.WalkDir(b.Dir, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, 4321, 4322))
	}))
	gitdifftest.Must(t, os.Chmod(filepath.Join(b.Dir, ".git/objects"), 0o2770|os.ModeSetgid))
	mustLand(t.Context(), t, b, "t", tree)
	gitdifftest.Must(t, filepath.WalkDir(b.Dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if st := info.Sys().(*syscall.Stat_t); st.Uid != 4321 || st.Gid != 4322 {
			t.Errorf("%s belongs to %d:%d", path, st.Uid, st.Gid)
		}
		if strings.Contains(path, "/objects/") && e.Type().IsRegular() && info.Mode() != 0o444 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	}))
}
