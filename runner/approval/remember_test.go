package approval

import (
	"testing"

	"sandboxrun/agents"
)

func TestPrefixIsTheProgramAndItsSubcommand(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"npm test": "npm test", "npm test -- --watch": "npm test", "npm run build:all": "npm run", "ls": "ls", "ls -la": "ls", "sh test.sh": "sh", "git  status": "git status",
		"rm 1": "rm", "": "", "a && b": "", "x=1 make": "", "echo $(id)": "", "sh -c 'rm x'": "", "cat *": "",
	} {
		if got := Prefix(command); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}

// What a person allows for the rest of a run allows that and nothing else.
func TestScopesAllowWhatTheySay(t *testing.T) {
	t.Parallel()
	call := func(tool, command, input string) (Pending, agents.ApprovalRequest) {
		return Pending{Tool: tool, Command: command, Digest: Digest(tool, []byte(input))}, agents.ApprovalRequest{Tool: tool, Command: command, Action: agents.ActionCommand, Input: []byte(input)}
	}
	first, _ := call("Bash", "npm test -- a", "1")
	for scope, want := range map[Scope][4]bool{
		// the same again, another command of that beginning, another command, another tool
		ScopeOnce: {}, ScopeExact: {true}, ScopePrefix: {true, true}, ScopeTool: {true, true, true},
	} {
		d := &Desk{}
		d.remember(first, Answer{Allow: true, By: "ann"}, scope)
		for i, c := range [][3]string{{"Bash", "npm test -- a", "1"}, {"Bash", "npm test", "2"}, {"Bash", "npm install x", "3"}, {"Write", "", "4"}} {
			a, ok := d.recall(call(c[0], c[1], c[2]))
			if ok != want[i] || ok && (!a.Allow || a.By != "ann, remembered") {
				t.Errorf("scope %q, %v: %v, %+v", scope, c, ok, a)
			}
		}
		for _, command := range []string{"npm test; rm -rf x", "npm test && curl x", "npm testx", "npm test\nrm x", "npm test $(rm x)"} {
			if _, ok := d.recall(call("Bash", command, command)); ok != (scope == ScopeTool) {
				t.Errorf("scope %q allows %q: %v", scope, command, ok)
			}
		}
	}
	// A denial is for exactly the same only, a tool with a star in its name is no pattern, and questions are always asked.
	d := &Desk{}
	d.remember(first, Answer{}, ScopeTool)
	star, _ := call("*", "", "x")
	d.remember(star, Answer{Allow: true}, ScopeTool)
	if a, ok := d.recall(call("Bash", "ls", "5")); ok {
		t.Errorf("%+v", a)
	}
	p, r := call("Ask", "", "q")
	d.remember(p, Answer{Allow: true}, ScopeTool)
	p.Questions = []agents.Question{{ID: "q"}}
	if _, ok := d.recall(p, r); ok {
		t.Error("a question was not asked")
	}
}
