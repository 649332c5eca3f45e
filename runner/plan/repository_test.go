package plan

import (
	"slices"
	"strings"
	"testing"

	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
)

// What the user decided for a repository holds where neither flags nor the task say more.
func TestTasksOfARepositoryHaveItsDefaults(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Repositories = map[string]config.Repository{"/home/me/shop": {
		Image: "shop", Agent: "pi", SetupCommands: []string{"npm ci"}, Checks: []string{"npm test"}, Allow: []string{"mirror.example"},
	}}
	compile := func(task string, o Overrides) *Plan {
		t.Helper()
		decoded, err := document.Decode([]byte(task))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(decoded, c, o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := compile(`{"objective": "o", "instructions": "i", "context": {"repo_root": "/home/me/shop/"}}`, Overrides{})
	if p.Box.Image != "shop" || p.Agent.Name != "pi" || !slices.Equal(p.Setup, []string{"npm ci"}) || !slices.Contains(p.Box.SetupAllow, "mirror.example") ||
		len(p.Verify) != 1 || p.Verify[0].Command != "npm test" || !strings.Contains(p.Agent.Prompt, "npm test") {
		t.Errorf("%+v\n%+v", p, p.Agent)
	}
	p = compile(`{"objective": "o", "instructions": "i", "context": {"repo_root": "/home/me/shop"}, "box": {"image": "x"}, "agent": "claude",
		"setup_commands": [], "acceptance_criteria": ["looks good"]}`, Overrides{})
	if p.Box.Image != "x" || p.Agent.Name != "claude" || len(p.Setup) != 0 || len(p.Verify) != 0 {
		t.Errorf("%+v\n%+v", p, p.Agent)
	}
	if p := compile(`{"objective": "o", "instructions": "i", "context": {"repo_root": "/home/me/shop"}}`, Overrides{Image: "flag"}); p.Box.Image != "flag" {
		t.Errorf("image %s", p.Box.Image)
	}
	if p := compile(`{"objective": "o", "instructions": "i", "context": {"repo_root": "/home/me/other"}}`, Overrides{}); p.Box.Image != c.Box.Image || len(p.Verify) != 0 {
		t.Errorf("another repository: %+v", p)
	}
}
