package document

import (
	"strings"
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
			if got := tt.rule.Allows(tt.call); got != tt.allows {
				t.Errorf("allows = %t", got)
			}
			if got := tt.rule.Denies(tt.call); got != tt.denys {
				t.Errorf("denies = %t", got)
			}
		})
	}
}

func TestWildcards(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "a\nb", true}, {"**", "a", true},
		{"a", "a", true}, {"a", "ab", false}, {"a*", "a", true}, {"a*", "ba", false}, {"*a", "ba", true}, {"*a", "ab", false},
		{"a*a", "a", false}, {"a*a", "aa", true}, {"ab*ba", "aba", false}, {"a*b*c", "a b b c", true}, {"a*b*c", "a c b", false},
		{"*a*b*", "xbxaxb", true}, {"*a*b*", "b a", false}, {"a?", "ab", false}, {"a?", "a?", true}, {`a\*`, `a\b`, true},
		{"npm * --all", "npm run x --all", true}, {"npm * --all", "npm --all", false},
	} {
		if got := wild(tt.pattern, tt.text); got != tt.want {
			t.Errorf("wild(%q, %q) = %t", tt.pattern, tt.text, got)
		}
	}
}

// A text that almost matches at every place made matching quadratic and worse,
// and the run's clock waited for it. Where that comes back, this test hangs.
func TestAHostileTextCostsNoMoreThanItsLength(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a", 16<<20) + "c"
	words := strings.Repeat("a", 200)
	for _, pattern := range []string{"*" + words + "*" + words + "b*", strings.Repeat("*a", 500) + "b", "*" + words + "b*" + words + "*"} {
		if wild(pattern, text) {
			t.Errorf("%.20s… matched", pattern)
		}
	}
}

func TestCallsBeyondTheBoundsOfRulesAreNeverAllowed(t *testing.T) {
	t.Parallel()
	rule := ApprovalRule{Path: "**"}
	for name, call := range map[string]agents.ApprovalRequest{
		"many paths":  {Tool: "Edit", Paths: make([]string, maxRulePaths+1)},
		"a long path": {Tool: "Edit", Paths: []string{strings.Repeat("a/", maxRulePath)}},
	} {
		if rule.Allows(call) || !rule.Denies(call) {
			t.Errorf("%s: allowed or not denied", name)
		}
	}
	long := agents.ApprovalRequest{Tool: "Bash", Command: "npm " + strings.Repeat("x", maxRuleCommand)}
	if rule := (ApprovalRule{Command: "npm *"}); rule.Allows(long) || !rule.Denies(long) {
		t.Error("a command longer than a person reads is allowed, or not denied")
	}
}
