package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/internal/testenv"
	"sandboxrun/runner/document"
)

const mend = `sed -i 's/\$1 - \$2/$1 + $2/' sum.sh`

func TestCommandModeChangesAreMeasuredAndLanded(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	before := fingerprint(t, repo.dir)
	base := repo.git("rev-parse", "HEAD")

	task := repo.task(mend, "echo new > added.txt", "rm old.txt")
	task["task_id"] = "mend-sum"
	task["acceptance_criteria"] = []any{map[string]any{"command": "sh test.sh"}, "the code reads well"}
	task["baseline"] = true
	res, o := rig.execute(task)

	if o.exit != document.ExitPartial || res.Status != document.StatusPartial || !hasCode(res, document.CodeCriterionUnverifiable) { // the sentence is not measured
		t.Fatalf("exit %d, status %s, issues %+v\n%s", o.exit, res.Status, res.Issues, o.stderr)
	}
	want := map[string]string{"sum.sh": "modified", "added.txt": "added", "old.txt": "deleted"}
	if d := cmp.Diff(want, changes(res)); d != "" {
		t.Errorf("files_changed (-want +got):\n%s", d)
	}
	if res.Git.Branch != "sandboxrun/mend-sum" || res.Git.BaseCommit != base {
		t.Errorf("git = %+v", res.Git)
	}
	if tree := repo.git("rev-parse", res.Git.Branch+"^{tree}"); tree != res.Git.Tree {
		t.Errorf("landed tree %s, result says %s", tree, res.Git.Tree)
	}
	if parent := repo.git("rev-parse", res.Git.Branch+"^"); parent != base {
		t.Errorf("parent of the landed commit is %s, not the base", parent)
	}
	if v := res.Acceptance[0]; v.Verdict != "pass" || !strings.Contains(v.Evidence, "exit 1 on the base commit") {
		t.Errorf("acceptance[0] = %+v", v)
	}
	if v := res.Acceptance[1]; v.Verdict != "unverifiable" {
		t.Errorf("a sentence was judged %s", v.Verdict)
	}
	if res.Tests.Passed == nil || !*res.Tests.Passed {
		t.Errorf("tests = %+v", res.Tests)
	}
	if d := cmp.Diff(before, fingerprint(t, repo.dir)); d != "" {
		t.Errorf("the user's repository changed beyond the one ref:\n%s", d)
	}
	if refs := repo.git("for-each-ref", "--format=%(refname)"); refs != "refs/heads/main\nrefs/heads/sandboxrun/mend-sum" {
		t.Errorf("refs:\n%s", refs)
	}
	repo.git("fsck", "--strict")
	if w := repo.git("worktree", "list", "--porcelain"); strings.Count(w, "worktree ") != 1 {
		t.Errorf("worktrees:\n%s", w)
	}
}

func TestPatchAppliesToTheBaseAndGivesTheLandedTree(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	res, _ := rig.execute(repo.task(mend, "rm old.txt", `printf 'a\0b' > bin.dat`, "chmod +x test.sh", "ln -s sum.sh link"))
	clone := filepath.Join(t.TempDir(), "clone")
	repo.git("clone", "-q", repo.dir, clone)
	gitIn(t, clone, "apply", "--index", res.Git.Patch)
	if tree := gitIn(t, clone, "write-tree"); tree != res.Git.Tree {
		t.Errorf("the patch gives tree %s, the result says %s", tree, res.Git.Tree)
	}
}

func TestSecondRunOfATaskLandsUnderTheNextName(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	task := repo.task("echo x > x")
	task["task_id"] = "twice"
	first, _ := rig.execute(task)
	second, _ := rig.execute(task)
	if first.Git.Branch != "sandboxrun/twice" || second.Git.Branch != "sandboxrun/twice-2" || !hasCode(second, document.CodeBranchTaken) {
		t.Errorf("branches %q and %q", first.Git.Branch, second.Git.Branch)
	}
}

func TestNothingChangedMakesNoRef(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	res, o := rig.execute(repo.task("true", "mkdir -p ignored && touch ignored/x"))
	if o.exit != 0 || !hasCode(res, "no_changes") || !hasCode(res, "hidden_by_ignore") || res.Git.Branch != "" || len(res.FilesChanged) != 0 {
		t.Errorf("exit %d, codes %v, git %+v", o.exit, codes(res), res.Git)
	}
	if refs := repo.git("for-each-ref", "--format=%(refname)"); refs != "refs/heads/main" {
		t.Errorf("refs:\n%s", refs)
	}
}

func TestLandNoneLeavesTheRepositoryAlone(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	res, _ := rig.execute(repo.task("echo x > x"), "--land", "none")
	if res.Git.Branch != "" || res.Git.Patch == "" {
		t.Errorf("git = %+v", res.Git)
	}
	if refs := repo.git("for-each-ref", "--format=%(refname)"); refs != "refs/heads/main" {
		t.Errorf("refs:\n%s", refs)
	}
}

func TestFailingCommandsFailOrLeaveARunPartial(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	res, o := rig.execute(repo.task("exit 7"))
	if o.exit != 4 || res.Status != document.StatusFailed || *res.CommandsRun[0].ExitCode != 7 || !hasCode(res, "command_failed") {
		t.Errorf("only failing commands: exit %d, %s, %v", o.exit, res.Status, codes(res))
	}
	task := repo.task("echo x > x", "exit 7")
	task["acceptance_criteria"] = []any{map[string]any{"command": "sh test.sh"}}
	res, o = rig.execute(task)
	if o.exit != 3 || res.Status != document.StatusPartial || !hasCode(res, "acceptance_failed") || res.Acceptance[0].Verdict != "fail" {
		t.Errorf("mixed commands: exit %d, %s, %v", o.exit, res.Status, codes(res))
	}
	if res.Tests.Passed == nil || *res.Tests.Passed {
		t.Errorf("tests = %+v", res.Tests)
	}
}

func TestVerificationSeesTheCapturedTreeOnly(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	// Ignored files, files in HOME or /tmp, and changes to the box's own .git must not reach the fresh box.
	task := repo.task("mkdir ignored && echo poison > ignored/x; echo poison > $HOME/x; echo poison > /tmp/x; echo poison > .git/poison; echo x > kept; rm old.txt")
	task["acceptance_criteria"] = []any{
		map[string]any{"command": "test -f kept && test ! -e old.txt"},
		map[string]any{"command": "test ! -e ignored && test ! -e $HOME/x && test ! -e /tmp/x && test ! -e .git/poison"},
		map[string]any{"command": "git status --porcelain | sort | tr '\\n' ' ' | grep -Fx ' D old.txt ?? kept '"},
	}
	res, o := rig.execute(task)
	if o.exit != 0 {
		t.Errorf("exit %d: %+v", o.exit, res.Acceptance)
	}
}

func TestConstraintsAndProtectedPathsAreJudgedOnTheDiff(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	task := repo.task("echo x >> test.sh", "echo y > new.txt")
	task["protected_paths"] = []string{"test.*"}
	task["constraints"] = []any{"be nice", map[string]any{"kind": "max_files_changed", "max": 1}, map[string]any{"kind": "paths_allowed", "paths": []string{"*.txt", "*.sh"}}}
	res, o := rig.execute(task)
	if o.exit != 3 || !hasCode(res, "protected_path_modified") || !hasCode(res, "constraint_violated") || !hasCode(res, "constraint_unverifiable") {
		t.Errorf("exit %d, codes %v", o.exit, codes(res))
	}
	var verdicts []string
	for _, c := range res.Constraints {
		verdicts = append(verdicts, c.Verdict)
	}
	if d := cmp.Diff([]string{"unverifiable", "fail", "pass"}, verdicts); d != "" {
		t.Error(d)
	}
	// apply refuses with the same words, as long as one of the reasons is not overridden.
	for _, args := range [][]string{{}, {"--refused", "constraint_violated"}, {"--refused", "protected_path_modified"}} {
		a := rig.run(nil, append(append([]string{"apply"}, args...), res.RunID)...)
		if a.exit != 2 || !strings.Contains(string(a.stdout)+string(a.stderr), "--refused") || repo.git("status", "--porcelain") != "" {
			t.Errorf("apply %v: exit %d: %s%s", args, a.exit, a.stdout, a.stderr)
		}
	}
	a := rig.run(nil, "apply", "--refused", "constraint_violated,protected_path_modified", res.RunID)
	if a.exit != 0 || !strings.Contains(string(a.stderr), "protected_path_modified: ") || repo.git("status", "--porcelain") != "M test.sh\n?? new.txt" {
		t.Errorf("apply: exit %d: %s%s%s", a.exit, a.stdout, a.stderr, repo.git("status", "--porcelain"))
	}
}

func TestWholeOutputIsInTheLogsAndExcerptsKeepHeadAndTail(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	res, _ := rig.execute(repo.task("echo FIRST; seq 1 100000; echo LAST; echo oops >&2"))
	c := res.CommandsRun[0]
	if !strings.HasPrefix(c.StdoutExcerpt, "FIRST") || !strings.HasSuffix(strings.TrimSpace(c.StdoutExcerpt), "LAST") || !strings.Contains(c.StdoutExcerpt, "left out") {
		t.Errorf("excerpt: %.200q … %.200q", c.StdoutExcerpt, c.StdoutExcerpt[max(0, len(c.StdoutExcerpt)-200):])
	}
	if len(c.StdoutExcerpt) > 32<<10 || strings.TrimSpace(c.StderrExcerpt) != "oops" {
		t.Errorf("excerpt of %d bytes, stderr %q", len(c.StdoutExcerpt), c.StderrExcerpt)
	}
	whole, err := os.ReadFile(res.Logs[0])
	if err != nil || strings.Count(string(whole), "\n") != 100002 {
		t.Errorf("log: %v, %d lines", err, strings.Count(string(whole), "\n"))
	}
}

func TestGoVetRunsOnThisProjectItself(t *testing.T) {
	t.Parallel()
	testenv.Engine(t, goImage)
	testenv.NeedsAll(t, "compiles everything with both cores for minutes")
	rig := newRig(t)
	rig.timeout = 20 * time.Minute // compiles what these rooms need in a box without a build cache
	root := gitIn(t, ".", "rev-parse", "--show-toplevel")
	clone := filepath.Join(t.TempDir(), "clone")
	gitIn(t, root, "clone", "-q", root, clone)
	res, o := rig.execute(map[string]any{
		"objective": "Vet this project.", "context": map[string]any{"repo_root": clone}, "execution_mode": "command",
		"suggested_commands": []string{"go vet ./internal/... ./gitdiff/... ./sandbox/... ./agents/..."}, "box": map[string]any{"image": goImage, "memory": "4g", "disk": "8g"},
	})
	if o.exit != 0 || res.CommandsRun[0].ExitCode == nil || *res.CommandsRun[0].ExitCode != 0 {
		t.Fatalf("exit %d: %+v", o.exit, res.CommandsRun)
	}
}
