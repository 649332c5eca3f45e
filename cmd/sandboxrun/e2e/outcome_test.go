package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/runner/document"
)

// situation makes one row of the table of outcomes happen, and says what came of it.
type situation func(t *testing.T, rig *rig, repo *repo) (status string, exit int)

// command runs a task of commands with changes of it.
func command(change map[string]any, commands ...string) situation {
	return func(t *testing.T, rig *rig, repo *repo) (string, int) {
		t.Helper()
		task := repo.task(commands...)
		maps.Copy(task, change)
		res, o := rig.execute(task)
		return string(res.Status), o.exit
	}
}

// script is an agent that does what a shell does, and fails as no agent of the protocol.
func script(text string) situation {
	return func(t *testing.T, rig *rig, repo *repo) (string, int) {
		t.Helper()
		task := agentTask(repo)
		delete(task, "acceptance_criteria")
		task["agent"] = map[string]any{"name": "acp:sh -c '" + text + "'", "provider": "anthropic"}
		res, o := rig.execute(task)
		return string(res.Status), o.exit
	}
}

// idle is an agent that says it is done and did nothing.
func idle(change map[string]any) situation {
	return func(t *testing.T, rig *rig, repo *repo) (string, int) {
		t.Helper()
		rig.model(modelserver.Scenario{Name: "idle", Steps: []modelserver.Step{{Text: "All done."}}})
		task := agentTask(repo)
		delete(task, "acceptance_criteria")
		maps.Copy(task, change)
		res, o := rig.execute(task)
		return string(res.Status), o.exit
	}
}

func refused(task string) situation {
	return func(t *testing.T, rig *rig, _ *repo) (string, int) {
		t.Helper()
		doc, exit := rig.refuse([]byte(task))
		return doc.Error.Type, exit
	}
}

func criteria(list ...any) map[string]any { return map[string]any{"acceptance_criteria": list} }

func runs(text string) map[string]any { return map[string]any{"command": text} }

var situations = map[string]situation{
	"something changed, and every acceptance command exited as expected": command(criteria(runs("sh test.sh")), mend),
	"nothing changed, and every acceptance command exited as expected":   command(criteria(runs("true")), "true"),
	"something changed, and nothing was to be measured":                  command(nil, "echo x > new"),
	"an agent in mode `code` changed nothing, and nothing was measured":  idle(nil),
	"an acceptance criterion is a command written as a sentence":         command(criteria("npm test"), "echo x > new"),
	"an acceptance criterion in words was not measured":                  command(criteria("It is fast."), "echo x > new"),
	"an acceptance command exited otherwise":                             command(criteria(runs("false")), "echo x > new"),
	"the change violates a constraint or touches a protected path":       command(map[string]any{"protected_paths": []any{"sum.sh"}}, mend),
	"some commands of mode `command` failed":                             command(nil, "echo x > new", "false"),
	"all commands of mode `command` failed, and nothing changed":         command(nil, "false"),
	"a set-up command failed":                                            command(map[string]any{"setup_commands": []any{"false"}}, "true"),
	"the agent failed after it had changed something":                    script("echo x > new; exit 3"),
	"the agent failed, and nothing changed":                              script("exit 3"),
	"a limit ended the work after something had changed":                 command(map[string]any{"max_runtime_seconds": 3}, "echo x > new; sleep 60"),
	"a limit ended the work, and nothing changed":                        command(map[string]any{"max_runtime_seconds": 3}, "sleep 60"),
	"SIGINT ended the work": func(t *testing.T, rig *rig, repo *repo) (string, int) {
		t.Helper()
		l := startLive(t, rig, repo)
		if err := l.cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		_ = l.cmd.Wait() // the exit code is compared with the table
		var res document.Result
		if err := json.Unmarshal(l.out.Bytes(), &res); err != nil {
			t.Fatal(err)
		}
		return string(res.Status), l.cmd.ProcessState.ExitCode()
	},
	"the task, a flag or the configuration is wrong": refused(`{"goal": "x"}`),
	"the engine or the image is not there": func(t *testing.T, rig *rig, repo *repo) (string, int) {
		t.Helper()
		task := repo.task("true")
		task["box"] = map[string]any{"image": "sandboxrun/no-such-image"}
		return refused(string(marshal(t, task)))(t, rig, repo)
	},
}

// The table of outcomes in README.md is what happens.
func TestOutcomesAreThoseOfTheTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## Outcomes\n")
	if !ok {
		t.Fatal("README.md has no section called Outcomes")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	row := regexp.MustCompile("(?m)^\\| ([^|]+) \\| `([a-z_]+)` \\| ([0-9]+) \\|$")
	seen := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(section, -1) {
		name, status := m[1], m[2]
		exit, err := strconv.Atoi(m[3])
		if err != nil {
			t.Fatal(err)
		}
		happen := situations[name]
		if happen == nil || seen[name] {
			t.Errorf("no test makes %q happen, or it is there twice", name)
			continue
		}
		seen[name] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rig, repo := newRig(t), newRepo(t, sample)
			if gotStatus, gotExit := happen(t, rig, repo); gotStatus != status || gotExit != exit {
				t.Errorf("%s, exit %d; the table says %s, exit %d", gotStatus, gotExit, status, exit)
			}
		})
	}
	for name := range situations {
		if !seen[name] {
			t.Errorf("the table lacks %q", name)
		}
	}
}

// An agent that only plans has its words to show.
func TestAPlanThatChangedNothingIsASuccess(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	if status, exit := idle(map[string]any{"agent": map[string]any{"name": "claude", "variant": "PLAN"}})(t, rig, repo); status != "success" || exit != 0 {
		t.Errorf("%s, exit %d", status, exit)
	}
}

func TestTakenBranchesGetANumber(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	task := repo.task("echo x > new")
	task["task_id"] = "again"
	for _, want := range []string{"sandboxrun/again", "sandboxrun/again-2", "sandboxrun/again-3"} {
		res, _ := rig.execute(task)
		if res.Git.Branch != want || hasCode(res, "branch_taken") != (want != "sandboxrun/again") || res.Status != document.StatusSuccess {
			t.Errorf("branch %s, %v, want %s", res.Git.Branch, codes(res), want)
		}
	}
}

// A change whose base has more than HEAD and the working tree is refused; once that is there, the change is applied.
func TestApplyRefusesAChangeWhoseBaseIsNotHere(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	first, _ := rig.execute(repo.task("echo one > one"))
	second := repo.task("echo two > two")
	second["context"] = map[string]any{"repo_root": repo.dir, "base": first.Git.Branch}
	res, _ := rig.execute(second)
	o := rig.run(nil, "apply", res.RunID)
	if o.exit != 2 || !strings.Contains(string(o.stderr), "which HEAD does not contain") || !strings.Contains(string(o.stderr), "git merge "+res.Git.Branch) ||
		!strings.HasPrefix(string(o.stderr), "run "+res.RunID+": success: ") {
		t.Errorf("apply: exit %d: %s", o.exit, o.stderr)
	}
	if status := repo.git("status", "--porcelain"); status != "" {
		t.Errorf("a refused change left %s", status)
	}
	for _, run := range []string{first.RunID, res.RunID} {
		if o := rig.run(nil, "apply", run); o.exit != 0 {
			t.Errorf("apply: exit %d: %s", o.exit, o.stderr)
		}
	}
	if status := repo.git("status", "--porcelain"); status != "?? one\n?? two" {
		t.Errorf("the working tree has %q", status)
	}
}

func TestApplyToABranchThatMovedSaysSo(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	res, _ := rig.execute(repo.task(mend))
	repo.write(map[string]string{"other.txt": "x\n"})
	repo.git("add", "-A")
	repo.git("commit", "-q", "-m", "unrelated")
	if o := rig.run(nil, "apply", res.RunID); o.exit != 0 {
		t.Errorf("after an unrelated commit: exit %d: %s", o.exit, o.stderr)
	}
	repo.git("checkout", "-q", "--", ".")
	repo.write(map[string]string{"sum.sh": "echo mine\n"})
	repo.git("commit", "-q", "-am", "mine")
	o := rig.run(nil, "apply", res.RunID)
	if o.exit != 2 || !strings.Contains(string(o.stderr), "your branch moved since the run began: git merge "+res.Git.Branch) || strings.Contains(string(o.stderr), "stash") {
		t.Errorf("after a commit to the same file: exit %d: %s", o.exit, o.stderr)
	}
}
