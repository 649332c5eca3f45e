package program

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func aProgram(t *testing.T, dir, text string) string {
	t.Helper()
	path := filepath.Join(dir, "program")
	if err := os.WriteFile(path+".new", []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAPinnedProgramStaysWhenItsFileIsReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pins := filepath.Join(dir, "programs")
	first, err := Pin(pins, aProgram(t, dir, "first"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Pin(pins, filepath.Join(dir, "program"))
	if err != nil {
		t.Fatal(err)
	}
	if again.Path() != first.Path() {
		t.Errorf("one build has two files: %s and %s", first.Path(), again.Path())
	}
	second, err := Pin(pins, aProgram(t, dir, "second"))
	if err != nil {
		t.Fatal(err)
	}
	if body, err := os.ReadFile(first.Path()); err != nil || string(body) != "first" {
		t.Errorf("the pinned file holds %q, %v", body, err)
	}
	if err := errors.Join(first.Release(), Sweep(pins)); err != nil {
		t.Error(err)
	}
	if len(names(t, pins)) != 4 { // each with its lock
		t.Errorf("a file in use was removed: %v", names(t, pins))
	}
	if err := errors.Join(again.Release(), second.Release()); err != nil {
		t.Error(err)
	}
	if left := names(t, pins); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestAReplacedProgramPinsWhatItRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := aProgram(t, dir, "running")
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Remove(file); err != nil { // no name is left to link
		t.Fatal(err)
	}
	path := filepath.Join(dir, "placed")
	if err := place(f, path); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(path)
	if err != nil || fi.Mode().Perm() != 0o755 {
		t.Errorf("the copy has mode %v, %v", fi.Mode(), err)
	}
	if body, err := os.ReadFile(path); err != nil || string(body) != "running" {
		t.Errorf("the copy holds %q, %v", body, err)
	}
	if left := names(t, dir); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}

func TestSweepRemovesWhatDeadProcessesLeft(t *testing.T) {
	t.Parallel()
	pins := t.TempDir()
	half := filepath.Join(pins, newPrefix+"1")
	live := filepath.Join(pins, newPrefix+"2")
	for _, p := range []string{half, live, filepath.Join(pins, "0123")} {
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(live)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := lock(f, unix.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	if err := Sweep(pins); err != nil {
		t.Error(err)
	}
	if left := names(t, pins); len(left) != 1 || left[0] != filepath.Base(live) {
		t.Errorf("left: %v", left)
	}
}

// A hard link of the same program in another state directory has a lock of its own.
func TestDirectoriesDoNotHoldEachOthersPrograms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := aProgram(t, dir, "shared")
	here, err1 := Pin(filepath.Join(dir, "a"), file)
	there, err2 := Pin(filepath.Join(dir, "b"), file)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if err := here.Release(); err != nil {
		t.Error(err)
	}
	if left := names(t, filepath.Join(dir, "a")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if err := there.Release(); err != nil {
		t.Error(err)
	}
}

// Processes that pin and release at the same time never see the file of one another vanish.
func TestPinningRacesWithRemoval(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pins, file := filepath.Join(dir, "programs"), aProgram(t, dir, "raced")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				p, err := Pin(pins, file)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := os.Stat(p.Path()); err != nil {
					t.Errorf("a pinned file is gone: %v", err)
				}
				if err := p.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if left := names(t, pins); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestAGoProgramIsIdentifiedByItsBuild(t *testing.T) {
	t.Parallel()
	self, err := os.Open(Running)
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	if len(readBuildNote(self)) == 0 {
		t.Error("this test's program has no note of its build")
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	f, err := os.Open(sh)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mine, err1 := buildID(self)
	other, err2 := buildID(f)
	if err1 != nil || err2 != nil || mine == other || len(mine) != 32 || len(other) != 32 {
		t.Errorf("%q, %v; %q, %v", mine, err1, other, err2)
	}
}
