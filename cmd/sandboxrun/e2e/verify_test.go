package e2e

import (
	"maps"
	"strings"
	"testing"

	"sandboxrun/runner/document"
)

// leave makes a command leave everything it can for the next one.
const leave = `for d in . $HOME /tmp .git ignored; do echo left > $d/left || exit 1; done; echo left > ignored/x; rm README.md
git config set.up left; touch $HOME/.local/tool; setsid sleep 300 >/dev/null 2>&1 </dev/null &
for i in $(seq 100); do test "$(pgrep -a -x sleep | grep -c 'sleep 300')" = 1 && exit; sleep 0.1; done; exit 1`

// find fails when it finds any of it, or lacks what set-up or the change made.
const find = `for d in . $HOME /tmp .git ignored; do test ! -e $d/left || exit 1; done
test -e README.md && test "$(cat ignored/x)" = product && test "$(git config set.up)" = yes && test "$(cat $HOME/.local/tool)" = tool &&
test "$(stat -c %a $HOME/.local)" = 700 && test -e new.txt && test ! -e old.txt && test "$(git rev-list --count HEAD)" = 1 && test $(pgrep -c sleep) = 0`

func TestCommandsOfTheVerificationLeaveNothingForEachOther(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{"overlay", "copy"} {
		t.Run(layout, func(t *testing.T) {
			t.Parallel()
			rig, repo := newRig(t), newRepo(t, sample)
			rig.env = append(rig.env, "SANDBOXRUN_LAYOUT="+layout)
			task := repo.task("echo new > new.txt; rm old.txt")
			task["setup_commands"] = []string{"mkdir ignored && echo product > ignored/x && git config set.up yes",
				"mkdir -m 700 $HOME/.local && echo tool > $HOME/.local/tool; setsid sleep 300 >/dev/null 2>&1 </dev/null & true"}
			task["acceptance_criteria"] = []any{map[string]any{"command": leave}, map[string]any{"command": find}, map[string]any{"command": "true; " + find}}
			res, o := rig.execute(task)
			if o.exit != 0 || res.Status != document.StatusSuccess || res.Box.Layout != layout {
				t.Errorf("exit %d, %s, issues %+v, acceptance %+v\n%+v", o.exit, res.Status, res.Issues, res.Acceptance, res.CommandsRun)
			}
			var phases []string
			for _, c := range res.CommandsRun {
				phases = append(phases, c.Phase)
			}
			if got := strings.Join(phases, " "); got != "prepare prepare agent verify verify verify verify verify" {
				t.Errorf("commands ran in the phases %s", got)
			}
		})
	}
}

func TestBoxesOfTheVerificationShareWhatTheyMayPrint(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.config["limits"] = map[string]any{"output": "1m"}
	task := repo.task("echo new > new.txt")
	var criteria []any
	for _, n := range []string{"1", "2", "3"} {
		criteria = append(criteria, map[string]any{"command": "head -c 400000 /dev/zero | tr '\\0' " + n})
	}
	task["acceptance_criteria"] = criteria
	res, o := rig.execute(task)
	if o.exit != 6 || !hasCode(res, "output_limit") || res.Acceptance[1].Verdict != "pass" || res.Acceptance[2].Verdict != "unverifiable" {
		t.Errorf("exit %d, issues %+v, acceptance %+v", o.exit, res.Issues, res.Acceptance)
	}
}

// What the change makes of a file that set-up reads, runs or writes is not there while set-up runs, and lies over what it left.
func TestSetupOfTheVerificationRunsOnTheBase(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{"overlay", "copy"} {
		t.Run(layout, func(t *testing.T) {
			t.Parallel()
			rig := newRig(t)
			repo := newRepo(t, map[string]string{"tool.sh": "mkdir -p ignored/deep made; cat tool.sh > ignored/tool; echo base > ignored/deep/a; echo made > made/by; ls > ignored/seen\n",
				"gone.txt": "gone\n", "same.txt": "same\n", ".gitignore": "ignored/\nmade/by\n"})
			rig.env = append(rig.env, "SANDBOXRUN_LAYOUT="+layout)
			task := repo.task("echo changed > same.txt; rm gone.txt; rm -rf made; echo file > made; echo new > new.txt")
			task["setup_commands"] = []string{"sh tool.sh"}
			task["baseline"] = true
			task["acceptance_criteria"] = []any{
				map[string]any{"command": "test \"$(cat ignored/seen | tr '\\n' ' ')\" = 'gone.txt ignored made same.txt tool.sh '"},
				map[string]any{"command": "test ! -e gone.txt && test \"$(cat same.txt)\" = changed && test -e new.txt && test -f made && test \"$(cat ignored/deep/a)\" = base"},
				map[string]any{"command": "git status --porcelain | grep -v '^ M same.txt$'  | grep -v '^ D gone.txt' | grep -v '^?? new.txt' | grep -qx '?? made'"},
			}
			res, o := rig.execute(task)
			if o.exit != 0 || res.Status != document.StatusSuccess {
				t.Errorf("exit %d, issues %+v, acceptance %+v", o.exit, res.Issues, res.Acceptance)
			}
			if evidence := res.Acceptance[1].Evidence; !strings.Contains(evidence, "exit 1 on the base commit") {
				t.Errorf("the baseline holds the change: %s", evidence)
			}
			if n := len(res.CommandsRun); n != 1+1+1+3+3 {
				t.Errorf("%d commands ran: set-up is for the baseline and the verification together", n)
			}
		})
	}
}

// A change of what set-up reads is told, and nothing is green for it, unless the task opens set-up of the change.
func TestAChangeOfWhatSetupReads(t *testing.T) { //nolint:tparallel // they count requests to one listener
	t.Parallel()
	port, hits := canary(t)
	fetch := "curl -s -f -m 5 --noproxy '' -x $HTTP_PROXY http://localhost:" + port + "/"
	rig := newRig(t)
	rig.config["box"] = map[string]any{"network": map[string]any{"allow_private": true}}
	files := map[string]string{"setup.sh": "mkdir -p ignored; echo base > ignored/made\n", "lock": "old\n", ".gitignore": "ignored/\n"}
	for _, tc := range []struct {
		name, work string
		allow      []string // verify_allow; nil: missing
		extra      map[string]any
		verdicts   string // of a criterion that is green in any case, and of one that needs the change's own set-up
		hits       int
		told       bool
	}{
		{name: "touched", work: "echo 'mkdir -p ignored; echo change > ignored/made; " + fetch + "' > setup.sh", verdicts: "unverifiable fail", told: true},
		{name: "opened", work: "echo 'mkdir -p ignored; echo change > ignored/made; " + fetch + "; true' > setup.sh", allow: []string{"localhost:" + port}, verdicts: "pass pass", hits: 1, told: true},
		{name: "opened to nothing", work: "echo 'mkdir -p ignored; echo change > ignored/made; " + fetch + "; true' > setup.sh", allow: []string{}, verdicts: "pass pass", told: true},
		{name: "not named", work: "echo x > setup.cfg.txt", verdicts: "pass fail"},
		{name: "not named by the task", work: "echo 'exit 9' > setup.sh", extra: map[string]any{"setup_inputs": []string{"other"}}, verdicts: "pass fail"},
		{name: "made by set-up itself", work: "cp .git/lock lock", extra: map[string]any{"setup_inputs": []string{"lock"}, "setup_commands": []string{"echo made > lock; echo made > .git/lock"}}, verdicts: "pass fail"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			repo := newRepo(t, files)
			before := hits()
			task := repo.task(tc.work)
			task["setup_commands"] = []string{"sh ./setup.sh"}
			maps.Copy(task, tc.extra)
			network := map[string]any{"allow": []string{"localhost:" + port}}
			if tc.allow != nil {
				network["verify_allow"] = tc.allow
			}
			task["box"] = map[string]any{"network": network}
			task["acceptance_criteria"] = []any{map[string]any{"command": "true"}, map[string]any{"command": "grep -qx change ignored/made"}}
			res, o := rig.execute(task)
			verdicts := res.Acceptance[0].Verdict + " " + res.Acceptance[1].Verdict
			if verdicts != tc.verdicts || hits()-before != tc.hits || hasCode(res, "setup_input_changed") != tc.told {
				t.Errorf("exit %d, verdicts %s, %d hits, issues %+v\n%+v", o.exit, verdicts, hits()-before, res.Issues, res.CommandsRun)
			}
			listed := 0
			for _, c := range res.Box.Network.Connections {
				if c.Name == "localhost:"+port && c.Phase == "verify" {
					listed += c.Count
				}
			}
			if listed != tc.hits || (res.Box.Network.VerifyAllow != nil) != (tc.allow != nil) {
				t.Errorf("network %+v", res.Box.Network)
			}
		})
	}
}

func TestProtectedPathsAreVerifiedAsTheBaseHasThem(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	task := repo.task("echo 'exit 0' > test.sh; mkdir spec; echo new > spec/new; echo x > x")
	task["protected_paths"] = []string{"test.sh", "spec/"}
	task["acceptance_criteria"] = []any{map[string]any{"command": "sh test.sh"}, map[string]any{"command": "test -e x && test ! -e spec"}}
	res, o := rig.execute(task)
	if o.exit != 3 || res.Acceptance[0].Verdict != "fail" || res.Acceptance[1].Verdict != "pass" || !hasCode(res, "protected_path_modified") {
		t.Errorf("exit %d, issues %+v, acceptance %+v", o.exit, res.Issues, res.Acceptance)
	}
	if got := repo.git("show", res.Git.Branch+":test.sh"); got != "exit 0" {
		t.Errorf("the change that lands is not the one that was captured: %q", got)
	}
}
