package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/internal/step"
)

// plot is a task that passes a step.
type plot struct {
	args  []string
	task  func(*victim) map[string]any // nil for a command without a task
	begin func(*victim)                // what must have happened before
	alone bool                         // has a state directory of its own
}

func (p plot) stdin(v *victim) []byte {
	if p.task == nil {
		return nil
	}
	return marshal(v.rig.t, p.task(v))
}

// plotOf finds a task that passes the step of a death.
func plotOf(d death) plot {
	execute := []string{"execute", "--quiet", "-"}
	switch {
	case d.step == "run/discard":
		return plot{args: []string{"agents", "check", "claude"}, alone: true}
	case d.step == "base/evict":
		return plot{args: execute, task: work, begin: ageBase, alone: true}
	case strings.HasPrefix(string(d.step), "session/"), strings.HasPrefix(string(d.step), "talk/"), d.step == "agent/turn":
		return plot{args: execute, task: talk(d), begin: model(d), alone: true}
	case d.step == "run/close", d.step == "run/sign", d.step == "run/result", d.step == "run/unmark":
		return plot{args: execute, task: work, alone: true} // reaping has these steps too
	case strings.HasPrefix(string(d.step), "mail/"):
		return plot{args: execute, task: unanswered, begin: model(d), alone: true}
	case d.nth > 1, strings.HasPrefix(string(d.step), "verify/"):
		return plot{args: execute, task: verified}
	}
	return plot{args: execute, task: work}
}

func work(v *victim) map[string]any {
	task := v.repo.task("echo new > new.txt; rm old.txt")
	task["setup_commands"] = []string{"true"}
	return task
}

func verified(v *victim) map[string]any {
	task := work(v)
	task["acceptance_criteria"] = []any{map[string]any{"command": "test -e new.txt"}}
	return task
}

// ageBase makes a base that is too old to be kept at the victim's start.
func ageBase(v *victim) {
	if _, o := v.rig.execute(v.repo.task("true")); o.exit != 0 {
		v.fault("the run before: exit %d: %s", o.exit, o.stderr)
	}
	locks, err := filepath.Glob(filepath.Join(v.rig.state, "bases", "bases", "*", "*.lock"))
	if err != nil || len(locks) != 1 {
		v.rig.t.Fatalf("locks of bases %v, %v", locks, err)
	}
	old := time.Now().Add(-60 * 24 * time.Hour)
	if err := os.Chtimes(locks[0], old, old); err != nil {
		v.rig.t.Fatal(err)
	}
	v.repo.git("commit", "-q", "--allow-empty", "-m", "next")
}

// continues reports whether a step needs an existing session.
func continues(n step.Name) bool { return n == "talk/restore" }

func talk(d death) func(*victim) map[string]any {
	return func(v *victim) map[string]any {
		task := sessionTask(v.repo, "talk", "Go on.")
		if d.step == "session/tree" {
			task["land"] = "none"
		}
		return task
	}
}

// unanswered is a task whose agent asks and nobody answers.
func unanswered(v *victim) map[string]any {
	task := sessionTask(v.repo, "", "Go on.")
	task["approvals"] = map[string]any{"policy": "ask", "timeout_seconds": 2}
	return task
}

func model(d death) func(*victim) {
	return func(v *victim) {
		steps := []modelserver.Step{shell("echo new > new.txt; rm -f old.txt"), say("Done.")}
		if continues(d.step) {
			steps = append([]modelserver.Step{shell("echo one > one.txt"), say("First.")}, steps...)
		}
		v.rig.model(modelserver.Scenario{Name: "talk", Steps: steps})
		if continues(d.step) {
			v.rig.good(sessionTask(v.repo, "talk", "Begin."))
		}
	}
}
