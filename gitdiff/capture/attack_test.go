package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/change"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
	"sandboxrun/gitdiff/land"
	"sandboxrun/internal/testenv"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/sys/unix"
)

// G06: whatever is put where the base has a submodule, its recorded link stays and nothing of it is obeyed.
func TestCaptureKeepsSubmodules(t *testing.T) { //nolint:tparallel // what all of them may have left is looked for at the end
	t.Parallel()
	b := workbench.New(t, map[string]string{"a": "a\n", "d/x": "x\n"})
	b.Git(t, "update-index", "--add", "--cacheinfo", "160000,"+b.Head(t).ID+",sub", "--cacheinfo", "160000,"+b.Head(t).ID+",d/sub")
	b.Git(t, "commit", "-q", "-m", "submodule")
	b.Open(t)
	pwn := filepath.Join(t.TempDir(), "PWN")
	for name, tc := range map[string]struct {
		attack  func(t *testing.T, dir string)
		changes []string
		want    []string
	}{
		"missing": {func(*testing.T, string) {}, nil, nil},
		"empty":   {func(t *testing.T, dir string) { gitdifftest.Must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755)) }, nil, nil},
		"populated": {func(t *testing.T, dir string) {
			gitdifftest.WriteFiles(t, dir, map[string]string{
				"sub/.git/config": "[filter \"e\"]\n\tclean = touch " + pwn + "\n", "sub/.git/info/attributes": "* filter=e\n", "sub/s": "s\n",
			})
		}, nil, []string{"submodule_touched sub"}},
		"a file":     {func(t *testing.T, dir string) { gitdifftest.WriteFiles(t, dir, map[string]string{"sub": "s\n"}) }, nil, []string{"submodule_touched sub"}},
		"a link":     {func(t *testing.T, dir string) { gitdifftest.WriteFiles(t, dir, map[string]string{"sub": "-> /etc"}) }, nil, []string{"submodule_touched sub"}},
		"a fifo":     {func(t *testing.T, dir string) { gitdifftest.Must(t, unix.Mkfifo(filepath.Join(dir, "sub"), 0o644)) }, nil, []string{"submodule_touched sub"}},
		"its parent": {func(t *testing.T, dir string) { gitdifftest.Must(t, os.RemoveAll(filepath.Join(dir, "d"))) }, []string{"deleted d/sub", "deleted d/x"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			gitdifftest.WriteFiles(t, dir, map[string]string{"a": "a\n", "d/x": "x\n"})
			tc.attack(t, dir)
			s, changes := changed(t, b, dir)
			gitdifftest.Equal(t, "changes", changes, tc.changes)
			gitdifftest.Equal(t, "findings", found(s), tc.want)
		})
	}
	if _, err := os.Stat(pwn); err == nil {
		t.Error("a program of the tree ran")
	}
}

// D05: something still alive swaps files and directories for links to a secret while the tree is captured again and again.
// Not once is the secret read; a capture either is right or says that the tree was not still.
func TestCaptureNeverFollowsASwappedLink(t *testing.T) {
	t.Parallel()
	testenv.NeedsTime(t, "races with a writer for seconds")
	b := workbench.New(t, map[string]string{"d/f": "harmless\n"})
	outside, root := t.TempDir(), t.TempDir()
	const secret = "the secret outside\n"
	gitdifftest.WriteFiles(t, outside, map[string]string{"f": secret})
	gitdifftest.WriteFiles(t, root, map[string]string{"d/f": "harmless\n", "d/g": "-> " + filepath.Join(outside, "f"), "s": "-> " + outside, "x/f": "x\n"})
	var stop atomic.Bool
	done := make(chan error)
	go func() {
		swap := func(a, b string) error {
			return unix.Renameat2(unix.AT_FDCWD, filepath.Join(root, a), unix.AT_FDCWD, filepath.Join(root, b), unix.RENAME_EXCHANGE)
		}
		for !stop.Load() {
			if err := swap("d", "s"); err != nil {
				done <- err
				return
			}
			if err := swap("d", "s"); err != nil {
				done <- err
				return
			}
			if err := swap("d/f", "d/g"); err != nil {
				done <- err
				return
			}
			runtime.Gosched()
		}
		done <- nil
	}()
	unstable, tries := 0, 1000
	if testenv.All() {
		tries = 5000
	}
	for range tries { // each opens the directory and the file at least once
		_, err := Capture(t.Context(), sourceOf(t, b, root))
		if errors.Is(err, gitdiff.ErrTreeUnstable) {
			unstable++
		} else if err != nil {
			t.Error(err)
			break
		}
	}
	stop.Store(true)
	gitdifftest.Must(t, <-done)
	t.Logf("%d captures were unstable", unstable)
	id := plumbing.ComputeHash(plumbing.BlobObject, []byte(secret))
	if err := b.Objects.Storer().HasEncodedObject(id); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("the secret was read: %v", err)
	}
}

// D08: a path of thousands of levels, which git takes for nothing, is named; the rest is right.
func TestCaptureOfAVeryDeepPath(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{"a": "a\n"})
	dir := b.Box(t)
	fd, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	gitdifftest.Must(t, err)
	for range 3000 {
		gitdifftest.Must(t, unix.Mkdirat(fd, "deeper", 0o755))
		next, err := unix.Openat(fd, "deeper", unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		gitdifftest.Must(t, errors.Join(err, unix.Close(fd)))
		fd = next
	}
	gitdifftest.Must(t, unix.Close(fd))
	gitdifftest.WriteFiles(t, dir, map[string]string{"b": "b\n"})
	s, changes := changed(t, b, dir)
	gitdifftest.Equal(t, "changes", changes, []string{"added b"})
	gitdifftest.Equal(t, "findings", len(s.Findings), 1)
	gitdifftest.Equal(t, "code", s.Findings[0].Code, gitdiff.PathTooDeep)
}

// D07: a directory of many entries stops at the budget, not at the end.
func TestCaptureStopsInADirectoryOfManyEntries(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{"a": "a\n"})
	dir := b.Box(t)
	for i := range 5000 {
		gitdifftest.Must(t, os.Symlink("x", filepath.Join(dir, fmt.Sprint(i))))
	}
	src := sourceOf(t, b, dir)
	src.Budget.Files = 2000
	var over *gitdiff.BudgetError
	if _, err := Capture(t.Context(), src); !errors.As(err, &over) || over.Code != gitdiff.TooManyFiles {
		t.Errorf("error = %v", err)
	}
}

// A file above what is kept in memory goes through to the store as it is read.
func TestCaptureStreamsLargeFiles(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{"a": "a\n"})
	dir := b.Box(t)
	content := make([]byte, 3*gitdiff.InMemory+17)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range content {
		content[i] = byte(random.Uint32())
	}
	gitdifftest.Must(t, os.WriteFile(filepath.Join(dir, "large"), content, 0o644))
	gitdifftest.Must(t, os.WriteFile(filepath.Join(dir, "same"), content, 0o644))
	s := captured(t, b, dir)
	branch, err := land.BranchName("t")
	gitdifftest.Must(t, err)
	id, err := land.Land(t.Context(), b.Repo, b.Objects, land.Landing{Branch: branch, Parent: b.Head(t), Tree: s.Tree, When: time.Unix(1_700_000_000, 0)})
	gitdifftest.Must(t, err)
	diff, err := change.Compare(t.Context(), b.Objects, b.Head(t).Tree, s.Tree)
	gitdifftest.Must(t, err)
	gitdifftest.Equal(t, "large is right", b.Git(t, "cat-file", "blob", id+":large") == strings.TrimSpace(string(content)), true)
	gitdifftest.Equal(t, "objects", b.Git(t, "rev-list", "--objects", "--count", id), "6")
	b.Git(t, "fsck", "--strict", "--full")
	gitdifftest.Equal(t, "applied", b.Applied(t, b.Head(t).Tree, func(w io.Writer) error { return diff.WritePatch(t.Context(), w) }), s.Tree)
}

func TestCaptureEndsWithItsContext(t *testing.T) {
	t.Parallel()
	b := workbench.New(t, map[string]string{"a": "a\n"})
	errStopped := errors.New("stopped by the test")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errStopped)
	if _, err := Capture(ctx, sourceOf(t, b, b.Box(t))); !errors.Is(err, errStopped) {
		t.Errorf("error = %v, want %v", err, errStopped)
	}
}
