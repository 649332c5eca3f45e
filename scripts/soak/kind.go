package main

import "slices"

// kind is one sort of task and its undisturbed end.
type kind struct {
	name     string
	weight   int
	exits    []int // valid exit codes
	lands    bool  // a branch is made
	agent    bool  // an agent runs it, with a scripted model
	commands []string
	accept   []any
	box      map[string]any
	seconds  int
}

func accepting(command string) []any { return []any{map[string]any{"command": command}} }

// kinds are the sorts of tasks. The first is the usual one.
var kinds = []*kind{
	{name: "edits", weight: 40, exits: []int{0}, lands: true, commands: []string{edits}},
	{name: "edits, verified", weight: 20, exits: []int{0}, lands: true, commands: []string{edits}, accept: accepting("test -s made.txt")},
	{name: "fails its acceptance", weight: 6, exits: []int{3, 4}, commands: []string{edits}, accept: accepting("test -e nowhere")},
	{name: "a command fails", weight: 6, exits: []int{3, 4}, commands: []string{edits, "echo no >&2; exit 7"}},
	{name: "changes nothing", weight: 6, exits: []int{0, 3}, commands: []string{"true"}},
	{name: "odd files", weight: 6, exits: []int{0, 3}, commands: []string{odd}},
	{name: "over its time", weight: 3, exits: []int{6}, seconds: 2, commands: []string{edits, "sleep 1000"}},
	{name: "over its memory", weight: 2, exits: []int{6}, box: map[string]any{"memory": "64m"},
		commands: []string{"head -c 400000000 /dev/zero | tail -c 300000000 | wc -c; sleep 20"}},
	{name: "over its disk", weight: 2, exits: []int{6}, box: map[string]any{"disk": "16m"},
		commands: []string{"head -c 80000000 /dev/urandom > big; sleep 20"}},
	{name: "slow", weight: 6, exits: []int{0}, lands: true, commands: []string{edits, "sleep 1; echo late >> made.txt"}},
	{name: "an agent's", weight: 3, exits: []int{0}, lands: true, agent: true, accept: accepting("test -s made.txt")},
}

const (
	edits = `echo "$(date +%N)" > made.txt; for f in *.txt; do echo more >> "$f"; break; done; mkdir -p new/dir; echo x > new/dir/file; rm -f old.txt`
	odd   = `mkfifo pipe; ln -s /etc/passwd away; mkdir inner; git init -q inner; echo x > inner/f; printf x > "$(printf 'a\nb')"; mkdir .GIT; echo x > .GIT/config; chmod 000 README.md`
)

// besideKind is the task of the second runner.
var besideKind = &kind{name: "beside", exits: []int{0}, lands: true, commands: []string{edits, "sleep 1"}}

// task is the document of a task of this kind.
func (k *kind) task(a assignment, repo *repo) map[string]any {
	seconds := k.seconds
	if seconds == 0 {
		seconds = 120
	}
	t := map[string]any{
		"task_id": a.id, "objective": "Soak: " + k.name + ".", "context": map[string]any{"repo_root": repo.dir},
		"max_runtime_seconds": seconds,
	}
	if k.agent {
		t["instructions"] = "Make made.txt."
	} else {
		t["execution_mode"], t["suggested_commands"] = "command", k.commands
		if a.disturbance == boxKilled || a.disturbance == boxRemoved { // there must be a box to remove
			t["suggested_commands"] = append(slices.Clone(k.commands), "sleep 5")
		}
	}
	if k.accept != nil {
		t["acceptance_criteria"] = k.accept
	}
	if k.box != nil {
		t["box"] = k.box
	}
	return t
}
