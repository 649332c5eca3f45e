package docker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func measured(t *testing.T, dir string, allowed usage) (usage, error) {
	t.Helper()
	root, err := openDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	return measure(t.Context(), root, allowed)
}

func write(t *testing.T, path string, size int) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, make([]byte, size), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestUsageCountsBlocksAndNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), 1<<20)
	before, err := measured(t, dir, usage{})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "d/e/b"), 2<<20)
	// Links cost nothing, and what they point to is outside.
	if err := os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/", filepath.Join(dir, "root")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "sparse"), 0)
	if err := os.Truncate(filepath.Join(dir, "sparse"), 1<<40); err != nil {
		t.Fatal(err)
	}
	after, err := measured(t, dir, usage{})
	if err != nil {
		t.Fatal(err)
	}
	if grown := after.bytes - before.bytes; grown < 2<<20 || grown > 2<<20+64<<10 {
		t.Errorf("grew by %d bytes", grown)
	}
	if grown := after.inodes - before.inodes; grown != 7 {
		t.Errorf("grew by %d names", grown)
	}
}

func TestUsageStopsPastTheLimit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		write(t, filepath.Join(dir, name), 1)
	}
	if got, err := measured(t, dir, usage{bytes: 1 << 30, inodes: 2}); err != nil || got.inodes != 3 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestUsageRefusesEndlessDepth(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fd, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range maxDepth + 10 {
		if err := unix.Mkdirat(fd, "d", 0o755); err != nil {
			t.Fatal(err)
		}
		next, err := unix.Openat(fd, "d", unix.O_DIRECTORY|unix.O_RDONLY, 0)
		unix.Close(fd)
		if err != nil {
			t.Fatal(err)
		}
		fd = next
	}
	unix.Close(fd)
	if _, err := measured(t, dir, usage{}); !errors.Is(err, errDeep) {
		t.Errorf("got %v", err)
	}
}

func TestUsageEndsWithItsContext(t *testing.T) {
	t.Parallel()
	root, err := openDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := measure(ctx, root, usage{}); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}
