package e2e

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sandboxrun/runner/document"
	"sandboxrun/runner/state"
)

// decode reads a document that must be one.
func decode(t *testing.T, doc []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(doc, into); err != nil {
		t.Fatalf("%v: %.2000s", err, doc)
	}
}

// ageAll gives every file below a directory the same times, without following links. It skips files that are removed
// meanwhile.
func ageAll(t *testing.T, dir string, when time.Time) {
	t.Helper()
	stamp := unix.NsecToTimespec(when.UnixNano())
	err := filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
		if err == nil {
			err = unix.UtimesNanoAt(unix.AT_FDCWD, p, []unix.Timespec{stamp, stamp}, unix.AT_SYMLINK_NOFOLLOW)
		}
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.EROFS) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTimesOfAnotherClockDoNotMisleadRecovery(t *testing.T) {
	t.Parallel()
	for name, when := range map[string]time.Time{
		"long ago":   time.Date(1999, 12, 31, 23, 59, 59, 0, time.UTC),
		"far future": time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rig, repo := newRig(t), newRepo(t, sample)
			dead := startLive(t, rig, repo)
			if err := dead.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = dead.cmd.Wait() // it was killed
			alive := newRig(t)
			l := hold(t, alive, repo.task())
			for _, r := range []*rigType{rig, alive} {
				ageAll(t, r.state, when)
				if o := r.run(nil, "reap"); o.exit != 0 {
					t.Errorf("reap: exit %d: %s", o.exit, o.stderr)
				}
			}
			if res := storedResult(t, rig.state, dead.run); !hasCode(res, "runner_lost") {
				t.Errorf("the dead run: %s %v", res.Status, codes(res))
			}
			if res, exit := l.release(); exit != 0 || res.Status != document.StatusSuccess {
				t.Errorf("the live run: exit %d, %s %v", exit, res.Status, codes(res))
			}
			// Old stores and bases are used, evicted or made again, and never cause a failure.
			for range 2 {
				if res, o := rig.execute(repo.task("echo x > x.txt")); o.exit != 0 || len(res.Issues) > 0 {
					t.Errorf("the next run: exit %d, %+v", o.exit, res.Issues)
				}
			}
			o := rig.run(nil, "runs", "list", "--json")
			var list []state.RunInfo
			decode(t, o.stdout, &list)
			if len(list) != 3 || list[2].RunID != dead.run {
				t.Errorf("runs %+v; want the dead one last of three", list)
			}
		})
	}
}
