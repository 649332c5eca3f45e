package state

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"

	"github.com/google/go-cmp/cmp"
)

func newState(t *testing.T) *State {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newRun(t *testing.T, s *State) *RunDir {
	t.Helper()
	d, err := s.NewRun()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Unlock(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// finish ends a run as the runner does.
func finish(t *testing.T, d *RunDir, r *document.Result) {
	t.Helper()
	if err := d.Finish(r, func() error { return nil }, nil); err != nil {
		t.Fatal(err)
	}
}

// crash releases the lock as the kernel does when a runner dies.
func crash(t *testing.T, d *RunDir) {
	t.Helper()
	if err := d.Unlock(); err != nil {
		t.Fatal(err)
	}
}

func TestStateDirectoryIsMadePrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "state")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := newRun(t, s)
	for _, path := range []string{dir, s.runsDir(), s.activeDir(), d.Dir(), d.LogsDir(), s.workDir()} {
		fi, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if fi.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %v", path, fi.Mode())
		}
	}
}

func TestStateDirectoryOfAnotherUserIsRefused(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	_, err := Open(dir)
	var bad *document.InputError
	if !errors.As(err, &bad) || bad.Hint == "" {
		t.Errorf("error = %v, want an InputError with a hint", err)
	}
}

func TestStateKeepsItsIdentity(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	ids := make(chan string, 8)
	var wg sync.WaitGroup
	for range cap(ids) {
		wg.Go(func() {
			s, err := Open(dir)
			if err != nil {
				t.Error(err)
				return
			}
			ids <- s.id
		})
	}
	wg.Wait()
	close(ids)
	first := <-ids
	for id := range ids {
		if id != first || len(id) != 8 {
			t.Errorf("identities %q and %q", first, id)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 5 {
		t.Errorf("entries %v, %v, want active, format, id, runs and work", entries, err)
	}
}

func TestHoldersOfTheLockAreAlive(t *testing.T) {
	t.Parallel()
	s, other := newState(t), newState(t)
	live, dead, ended, removed := newRun(t, s), newRun(t, s), newRun(t, s), newRun(t, s)
	crash(t, dead)
	finish(t, ended, &document.Result{})
	if err := removed.Discard(); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, owner string
		want        bool
	}{
		{"live", s.Owner(live.ID()), true},
		{"dead", s.Owner(dead.ID()), false},
		{"ended", s.Owner(ended.ID()), false},
		{"removed", s.Owner(removed.ID()), false},
		{"of another state directory", other.Owner(dead.ID()), true},
		{"without an id", s.Owner(""), true},
		{"a path", s.Owner("../../etc"), true},
		{"a foreign label", "x", true},
	}
	for _, tt := range tests {
		if got := s.Alive(tt.owner); got != tt.want {
			t.Errorf("%s: Alive(%q) = %v, want %v", tt.name, tt.owner, got, tt.want)
		}
	}
}

// The end of the process must release the lock, even without an orderly end.
func TestKilledProcessReleasesItsRun(t *testing.T) {
	if dir := os.Getenv("TEST_HOLD_RUN"); dir != "" {
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		d, err := s.NewRun()
		if err != nil {
			t.Fatal(err)
		}
		_, _ = os.Stdout.WriteString(d.ID() + "\n")
		select {}
	}
	s := newState(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestKilledProcessReleasesItsRun$")
	cmd.Env = append(os.Environ(), "TEST_HOLD_RUN="+s.Dir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 27)
	if _, err := out.Read(line); err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSpace(string(line))
	if !s.Alive(s.Owner(id)) {
		t.Errorf("run %q of a live process counts as dead", id)
	}
	if crashed, err := s.HasCrashed(); err != nil || crashed {
		t.Errorf("HasCrashed = %v, %v with a live run", crashed, err)
	}
	cancel()
	if err := cmd.Wait(); err == nil {
		t.Error("the process ended by itself")
	}
	if s.Alive(s.Owner(id)) {
		t.Error("the run outlived its process")
	}
	if crashed, err := s.HasCrashed(); err != nil || !crashed {
		t.Errorf("HasCrashed = %v, %v after a kill", crashed, err)
	}
}

func TestCrashedRunsAreSettledOnce(t *testing.T) {
	t.Parallel()
	s := newState(t)
	live, dead, half := newRun(t, s), newRun(t, s), newRun(t, s)
	crash(t, dead)
	if err := half.writeJSON("result.json", &document.Result{}); err != nil { // died right after its result
		t.Fatal(err)
	}
	crash(t, half)
	if err := os.WriteFile(s.marker("01j00000000000000000000000"), nil, 0o600); err != nil { // died between two steps
		t.Fatal(err)
	}
	var settled []string
	settle := func(d *RunDir) error {
		settled = append(settled, d.ID())
		if !s.Alive(s.Owner(d.ID())) {
			t.Error("a run being settled is not locked")
		}
		return d.Finish(&document.Result{Status: document.StatusFailed}, func() error { return nil }, nil)
	}
	for range 2 {
		if err := s.crashed(settle); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{dead.ID()}, settled); diff != "" {
		t.Errorf("settled (-want +got):\n%s", diff)
	}
	if ids, err := s.Active(); err != nil || len(ids) != 1 || ids[0] != live.ID() {
		t.Errorf("still active: %v, %v", ids, err)
	}
}

func TestUnsettledRunStaysCrashed(t *testing.T) {
	t.Parallel()
	s := newState(t)
	dead := newRun(t, s)
	crash(t, dead)
	no := errors.New("no")
	if err := s.crashed(func(*RunDir) error { return no }); !errors.Is(err, no) {
		t.Errorf("error %v", err)
	}
	if crashed, err := s.HasCrashed(); err != nil || !crashed {
		t.Errorf("HasCrashed = %v, %v", crashed, err)
	}
}

func TestPlanSurvivesTheDisk(t *testing.T) {
	t.Parallel()
	s := newState(t)
	d := newRun(t, s)
	want, err := plan.Compile(decodeFile(t, "full"), config.Default(), plan.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.WritePlan(want); err != nil {
		t.Fatal(err)
	}
	got, err := d.Plan()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(mustJSON(t, want), mustJSON(t, got)); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if _, err := d.Result(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("result before the end: %v", err)
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func decodeFile(t *testing.T, name string) *document.Task {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "plan", "testdata", "tasks", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	task, err := document.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return task
}
