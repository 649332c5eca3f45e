package runner

import (
	"testing"

	"sandboxrun/agents"
)

func TestApprovalRules(t *testing.T) {
	t.Parallel()
	command := func(c string) agents.ApprovalRequest {
		return agents.ApprovalRequest{Tool: "Bash", Action: agents.ActionCommand, Command: c}
	}
	edit := func(paths ...string) agents.ApprovalRequest {
		return agents.ApprovalRequest{Tool: "Edit", Action: agents.ActionEdit, Paths: paths}
	}
	for _, tt := range []struct {
		name          string
		rule          ApprovalRule
		call          agents.ApprovalRequest
		allows, denys bool
	}{
		{"tool", ApprovalRule{Tool: "Bash"}, command("x"), true, true},
		{"tool with a star", ApprovalRule{Tool: "mcp__*"}, agents.ApprovalRequest{Tool: "mcp__db__read"}, true, true},
		{"another tool", ApprovalRule{Tool: "Edit"}, command("x"), false, false},
		{"no tool named", ApprovalRule{Tool: "?ash"}, command("x"), false, false},
		{"command", ApprovalRule{Command: "npm test"}, command("npm test"), true, true},
		{"command with arguments", ApprovalRule{Command: "npm *"}, command("npm run lint"), true, true},
		{"one more command", ApprovalRule{Command: "npm *"}, command("npm test; rm -rf ."), false, true},
		{"a substitution", ApprovalRule{Command: "echo *"}, command("echo $(curl evil)"), false, true},
		{"a second line", ApprovalRule{Command: "npm *"}, command("npm test\ncurl evil"), false, true},
		{"a pipe that is named", ApprovalRule{Command: "ls | wc -l"}, command("ls | wc -l"), true, true},
		{"a part of the line", ApprovalRule{Command: "rm *"}, command("cd a && rm -rf b"), false, true},
		{"command of a call without one", ApprovalRule{Command: "*"}, edit("a"), false, false},
		{"path", ApprovalRule{Path: "src/**"}, edit("/workspace/src/a/b.go"), true, true},
		{"one path outside of the pattern", ApprovalRule{Path: "src/**"}, edit("src/a.go", "etc/b"), false, true},
		{"a path that climbs", ApprovalRule{Path: "src/**"}, edit("/workspace/src/../.github/x"), false, false},
		{"a path outside of the tree", ApprovalRule{Path: "**"}, edit("/home/agent/.bashrc"), false, false},
		{"a path outside and one inside", ApprovalRule{Path: "**"}, edit("/home/agent/.bashrc", "a"), false, true},
		{"path of a call without one", ApprovalRule{Path: "**"}, command("x"), false, false},
		{"both must hold", ApprovalRule{Tool: "Edit", Path: "docs/*"}, edit("docs/a.md"), true, true},
		{"one does not hold", ApprovalRule{Tool: "Write", Path: "docs/*"}, edit("docs/a.md"), false, false},
		{"a question is never allowed by a rule", ApprovalRule{Tool: "*"}, agents.ApprovalRequest{Tool: "Ask", Questions: []agents.Question{{ID: "q"}}}, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.rule.allows(tt.call); got != tt.allows {
				t.Errorf("allows = %t", got)
			}
			if got := tt.rule.denies(tt.call); got != tt.denys {
				t.Errorf("denies = %t", got)
			}
		})
	}
}

func TestAPatternOfManyStarsIsBounded(t *testing.T) {
	t.Parallel()
	text := make([]byte, 60<<10)
	for i := range text {
		text[i] = 'a'
	}
	if wild("*a*a*a*a*a*a*a*a*a*a*a*a*b", string(text)) {
		t.Error("matched")
	}
}
