package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestRemoveTreeRemovesWhatABoxLeavesBehind(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	outside := filepath.Join(parent, "outside")
	dir := filepath.Join(parent, "dir")
	for _, d := range []string{outside, dir, filepath.Join(dir, "closed/inner")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{filepath.Join(outside, "kept"), filepath.Join(dir, "closed/inner/file")} {
		if err := os.WriteFile(f, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 3 * removeBatch {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("many", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	deepen(t, dir, 3000)
	if err := os.Mkdir(filepath.Join(dir, ".sandboxrun-removed-1"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"closed/inner", "closed"} {
		if err := os.Chmod(filepath.Join(dir, d), 0); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second time there is nothing to do
		if err := RemoveTree(dir); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("still there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(outside, "kept")); err != nil {
		t.Errorf("followed a link: %v", err)
	}
}

// deepen makes directories below one another, far beyond what a path can name.
func deepen(t *testing.T, dir string, depth int) {
	t.Helper()
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	for range depth {
		if err != nil {
			t.Fatal(err)
		}
		if err = unix.Mkdirat(fd, "deeper", 0o755); err != nil {
			t.Fatal(err)
		}
		next, openErr := unix.Openat(fd, "deeper", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		unix.Close(fd)
		fd, err = next, openErr
	}
	unix.Close(fd)
}

func TestRemoveTreeOfALinkLeavesItsTarget(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.Mkdir(target, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := RemoveTree(link); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(target); err != nil {
		t.Error(err)
	}
}
