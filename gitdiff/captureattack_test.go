package gitdiff

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/sys/unix"
)

// G06: whatever is put where the base has a submodule, its recorded link stays and nothing of it is obeyed.
func TestCaptureKeepsSubmodules(t *testing.T) { //nolint:tparallel // what all of them may have left is looked for at the end
	t.Parallel()
	b := newBench(t, map[string]string{"a": "a\n", "d/x": "x\n"})
	b.git(t, "update-index", "--add", "--cacheinfo", "160000,"+b.head(t).ID+",sub", "--cacheinfo", "160000,"+b.head(t).ID+",d/sub")
	b.git(t, "commit", "-q", "-m", "submodule")
	b.open(t)
	pwn := filepath.Join(t.TempDir(), "PWN")
	for name, tc := range map[string]struct {
		attack  func(t *testing.T, dir string)
		changes []string
		want    []string
	}{
		"missing": {func(*testing.T, string) {}, nil, nil},
		"empty":   {func(t *testing.T, dir string) { must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755)) }, nil, nil},
		"populated": {func(t *testing.T, dir string) {
			writeFiles(t, dir, map[string]string{
				"sub/.git/config": "[filter \"e\"]\n\tclean = touch " + pwn + "\n", "sub/.git/info/attributes": "* filter=e\n", "sub/s": "s\n",
			})
		}, nil, []string{"submodule_touched sub"}},
		"a file":     {func(t *testing.T, dir string) { writeFiles(t, dir, map[string]string{"sub": "s\n"}) }, nil, []string{"submodule_touched sub"}},
		"a link":     {func(t *testing.T, dir string) { writeFiles(t, dir, map[string]string{"sub": "-> /etc"}) }, nil, []string{"submodule_touched sub"}},
		"a fifo":     {func(t *testing.T, dir string) { must(t, unix.Mkfifo(filepath.Join(dir, "sub"), 0o644)) }, nil, []string{"submodule_touched sub"}},
		"its parent": {func(t *testing.T, dir string) { must(t, os.RemoveAll(filepath.Join(dir, "d"))) }, []string{"deleted d/sub", "deleted d/x"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFiles(t, dir, map[string]string{"a": "a\n", "d/x": "x\n"})
			tc.attack(t, dir)
			s, changes := b.changed(t, dir)
			wantEqual(t, "changes", changes, tc.changes)
			wantEqual(t, "findings", found(s), tc.want)
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
	b := newBench(t, map[string]string{"d/f": "harmless\n"})
	outside, root := t.TempDir(), t.TempDir()
	const secret = "the secret outside\n"
	writeFiles(t, outside, map[string]string{"f": secret})
	writeFiles(t, root, map[string]string{"d/f": "harmless\n", "d/g": "-> " + filepath.Join(outside, "f"), "s": "-> " + outside, "x/f": "x\n"})
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
	unstable := 0
	for range 5000 { // each opens the directory and the file at least once
		_, err := capture(t.Context(), b.source(t, root))
		if errors.Is(err, ErrTreeUnstable) {
			unstable++
		} else if err != nil {
			t.Error(err)
			break
		}
	}
	stop.Store(true)
	must(t, <-done)
	t.Logf("%d captures were unstable", unstable)
	id := plumbing.ComputeHash(plumbing.BlobObject, []byte(secret))
	if err := b.objects.storer().HasEncodedObject(id); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("the secret was read: %v", err)
	}
}

// D08: a path of thousands of levels, which git takes for nothing, is named; the rest is right.
func TestCaptureOfAVeryDeepPath(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "a\n"})
	dir := b.box(t)
	fd, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	must(t, err)
	for range 3000 {
		must(t, unix.Mkdirat(fd, "deeper", 0o755))
		next, err := unix.Openat(fd, "deeper", unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		must(t, errors.Join(err, unix.Close(fd)))
		fd = next
	}
	must(t, unix.Close(fd))
	writeFiles(t, dir, map[string]string{"b": "b\n"})
	s, changes := b.changed(t, dir)
	wantEqual(t, "changes", changes, []string{"added b"})
	wantEqual(t, "findings", len(s.Findings), 1)
	wantEqual(t, "code", s.Findings[0].Code, PathTooDeep)
}

// D07: a directory of many entries stops at the budget, not at the end.
func TestCaptureStopsInADirectoryOfManyEntries(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "a\n"})
	dir := b.box(t)
	for i := range 5000 {
		must(t, os.Symlink("x", filepath.Join(dir, fmt.Sprint(i))))
	}
	src := b.source(t, dir)
	src.budget.Files = 2000
	var over *BudgetError
	if _, err := capture(t.Context(), src); !errors.As(err, &over) || over.Code != TooManyFiles {
		t.Errorf("error = %v", err)
	}
}

// A file above what is kept in memory goes through to the store as it is read.
func TestCaptureStreamsLargeFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "a\n"})
	dir := b.box(t)
	content := make([]byte, 3*inMemory+17)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range content {
		content[i] = byte(random.Uint32())
	}
	must(t, os.WriteFile(filepath.Join(dir, "large"), content, 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "same"), content, 0o644))
	s := b.capture(t, dir)
	id := b.land(t.Context(), t, "t", s.Tree)
	wantEqual(t, "large is right", b.git(t, "cat-file", "blob", id+":large") == strings.TrimSpace(string(content)), true)
	wantEqual(t, "objects", b.git(t, "rev-list", "--objects", "--count", id), "6")
	b.git(t, "fsck", "--strict", "--full")
	wantEqual(t, "applied", b.applied(t, b.diff(t, s.Tree)), s.Tree)
}

func TestCaptureEndsWithItsContext(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a": "a\n"})
	errStopped := errors.New("stopped by the test")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errStopped)
	if _, err := capture(ctx, b.source(t, b.box(t))); !errors.Is(err, errStopped) {
		t.Errorf("error = %v, want %v", err, errStopped)
	}
}
