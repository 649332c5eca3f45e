package e2e

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/runner/document"
	"sandboxrun/runner/state"
	"sandboxrun/schemas/closed"
)

// examine checks that a killed task left nothing behind after a cleanup. With whole it checks the state directory too.
func (v *victim) examine(whole bool) {
	v.examineResult()
	v.examineRepo()
	if whole {
		v.examineState()
		v.examineEngine()
	}
}

// half matches names of half-made files and directories.
var half = regexp.MustCompile(`^\.(new|gone)-|^\.[a-z]+\.(json|tar)|\.building$|^tmp_|^id\.`)

// examineState looks for half-made files, and for locks that are still held.
func (v *victim) examineState() {
	for _, dir := range []string{"active", "work", "programs"} {
		entries, err := os.ReadDir(filepath.Join(v.rig.state, dir))
		if err != nil && !os.IsNotExist(err) { // only a run that came far enough makes programs
			v.fault("%v", err)
		}
		for _, e := range entries {
			v.fault("left in the state directory: %s/%s", dir, e.Name())
		}
	}
	err := filepath.WalkDir(v.rig.state, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case half.MatchString(e.Name()):
			v.fault("half-made: %s", strings.TrimPrefix(path, v.rig.state))
		case strings.HasSuffix(e.Name(), "lock") && e.Type().IsRegular() && !lockFree(path):
			v.fault("locked: %s", path)
		}
		return nil
	})
	if err != nil {
		v.fault("%v", err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || strings.Contains(string(mounts), v.rig.state) {
		v.fault("left mounted below the state directory (%v)", err)
	}
	litter, err := os.ReadDir(v.rig.tmp())
	if err != nil {
		v.fault("%v", err)
	}
	for _, e := range litter {
		v.fault("left in the directory for temporary files: %s", e.Name())
	}
}

// lockFree reports whether a lock is free.
func lockFree(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// examineEngine looks for containers, volumes and networks of the rig's state.
func (v *victim) examineEngine() {
	id, err := os.ReadFile(filepath.Join(v.rig.state, "id"))
	if err != nil {
		v.fault("%v", err)
		return
	}
	left, err := leftWithEngine(strings.TrimSpace(string(id)))
	if err != nil {
		v.fault("%v", err)
	}
	for _, line := range left {
		v.fault("left with the engine (docker %s)", line)
	}
}

// examineResult requires exactly one result of a run that began, and none of one that did not.
func (v *victim) examineResult() {
	var listed []state.RunInfo
	o := v.rig.run(nil, "runs", "list", "--json", "--limit", "0")
	if err := json.Unmarshal(o.stdout, &listed); err != nil {
		v.fault("runs list: exit %d: %v: %.300s", o.exit, err, o.stderr)
		return
	}
	id := strings.TrimPrefix(strings.TrimPrefix(v.run, ".new-"), ".gone-")
	times := 0
	for _, info := range listed {
		if info.Status == state.RunCrashed || info.Status == state.RunRunning {
			v.fault("run %s is listed as %s", info.RunID, info.Status)
		}
		if info.RunID == id {
			times++
			v.outcome = info.Status
		}
	}
	body, err := os.ReadFile(filepath.Join(v.rig.state, "runs", id, "result.json"))
	began := id != "" && !strings.HasPrefix(v.run, ".") && !unbegun(v.death)
	if v.step == "" { // killed at any moment: the files show whether it had begun
		began = times > 0 || err == nil
	}
	switch {
	case !began:
		v.outcome = "no run"
		if times != 0 {
			v.fault("a run that never began is listed %d times", times)
		}
		return
	case times != 1:
		v.fault("the run is listed %d times", times)
	case err != nil:
		v.fault("no result: %v", err)
	}
	if err := closed.Validate("result", body); err != nil {
		v.fault("the result breaks its schema: %v", err)
	}
	var res document.Result
	if err := json.Unmarshal(body, &res); err != nil {
		v.fault("%v", err)
		return
	}
	v.examineVerdict(res)
}

// unbegun reports whether a run dies before it has a plan, or while it is being discarded.
func unbegun(d death) bool {
	return d.step == "run/discard" || d.step == "run/worker" || d.step == "run/journal" || d.step == "run/plan" && d.side == "before" || d.step == "run/appear"
}

// examineVerdict compares a result with the repository: the branch it names exists, and an existing branch is named.
func (v *victim) examineVerdict(res document.Result) {
	lost := hasCode(res, "runner_lost")
	if lost != (res.Status == document.StatusFailed) || !lost && res.Status != document.StatusSuccess {
		v.fault("%s with %v", res.Status, codes(res))
	}
	early := v.step == "" || v.step == "run/plan"
	if got := res.Git.BaseCommit; got != v.repo.git("rev-parse", "HEAD") && v.plot.begin == nil && (got != "" || !early) {
		v.fault("base commit %q", got)
	}
	if res.Session != nil {
		v.examineSession(res)
	}
	branch := v.ref(res.RunID)
	if branch != res.Git.Branch {
		v.fault("the branch of the run is %q, the result says %q", branch, res.Git.Branch)
	}
	if branch == "" {
		return
	}
	v.outcome += ", landed"
	if at := v.repo.git("rev-parse", branch); at != res.Git.Commit || v.repo.git("rev-parse", branch+"^{tree}") != res.Git.Tree {
		v.fault("%s is at %s, the result says %+v", branch, at, res.Git)
	}
	if d := cmp.Diff(map[string]string{"new.txt": "added", "old.txt": "deleted"}, changes(res)); d != "" {
		v.fault("files_changed:\n%s", d)
	}
	if patch, err := os.ReadFile(res.Git.Patch); err != nil || !strings.Contains(string(patch), "new.txt") {
		v.fault("patch %q: %v", res.Git.Patch, err)
	}
}

// examineSession requires that a run's session agrees with its result.
func (v *victim) examineSession(res document.Result) {
	view, ok := v.rig.session(res.Session.ID)
	for _, s := range view.Runs {
		if s.RunID == res.RunID && s.Status == res.Status {
			return
		}
	}
	v.fault("the session (exists: %v) does not have the run: %+v", ok, view.Runs)
}

// ref is the branch whose commit names a run; "" for none.
func (v *victim) ref(run string) string {
	var of []string
	for name := range strings.FieldsSeq(v.repo.git("for-each-ref", "--format=%(refname:short)", "refs/heads/sandboxrun/")) {
		if strings.Contains(v.repo.git("log", "-1", "--format=%B", name), "\nRun: "+run+"\n") {
			of = append(of, name)
		}
	}
	return strings.Join(of, " and ")
}

// examineRepo requires an unchanged repository of the user, except for one complete branch.
func (v *victim) examineRepo() {
	if d := cmp.Diff(v.before, fingerprint(v.rig.t, v.repo.dir)); d != "" {
		v.fault("the user's repository changed:\n%s", d)
	}
	fsck := exec.Command("git", "-C", v.repo.dir, "fsck", "--strict", "--no-dangling", "--no-progress")
	if out, err := fsck.CombinedOutput(); err != nil || len(strings.TrimSpace(string(out))) > 0 {
		v.fault("git fsck: %v: %s", err, out)
	}
	err := filepath.WalkDir(filepath.Join(v.repo.dir, ".git"), func(path string, e fs.DirEntry, err error) error {
		name := e.Name()
		if strings.HasSuffix(name, ".lock") || strings.HasPrefix(name, "tmp_") || strings.HasSuffix(name, ".keep") || strings.HasPrefix(name, "sandboxrun-") {
			v.fault("left in the user's repository: %s", strings.TrimPrefix(path, v.repo.dir))
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		v.fault("%v", err)
	}
}
