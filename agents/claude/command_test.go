package claude

import (
	"slices"
	"strings"
	"testing"

	"sandboxrun/agents"

	"github.com/google/go-cmp/cmp"
)

func TestClaudeArgvLeavesTheRepositoryNoSay(t *testing.T) {
	t.Parallel()
	argv := commandLine(agent{}.Info(), agents.Turn{Model: "m", SessionID: "s", Args: []string{"--setting-sources", "project"}})
	want := []string{"claude", "-p", "--setting-sources", "project", "--model", "m", "--session-id", "s",
		"--output-format=stream-json", "--input-format=stream-json", "--verbose", "--include-partial-messages",
		"--permission-prompt-tool=stdio", "--setting-sources", "user", "--strict-mcp-config"}
	if diff := cmp.Diff(want, argv); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if argv := commandLine(agent{}.Info(), agents.Turn{SessionID: "s", Resume: true}); !slices.Contains(argv, "--resume") || slices.Contains(argv, "--session-id") {
		t.Errorf("resume = %q", argv)
	}
}

func TestClaudeEnvKeepsEndpointAndPlaceholder(t *testing.T) {
	t.Parallel()
	env := environment(agents.Turn{BaseURL: "http://127.0.0.1:1", Token: "placeholder", Env: []string{
		"ANTHROPIC_BASE_URL=http://elsewhere", "ANTHROPIC_API_KEY=real", "ANTHROPIC_AUTH_TOKEN=real", "CLAUDE_CODE_OAUTH_TOKEN=real",
		"HOME=/elsewhere", "CLAUDE_CODE_MAX_RETRIES=1", "MINE=yes", "malformed",
	}})
	want := []string{
		"ANTHROPIC_API_KEY=placeholder",
		"ANTHROPIC_BASE_URL=http://127.0.0.1:1",
		"API_TIMEOUT_MS=150000",
		"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_MAX_RETRIES=1",
		"DISABLE_AUTOUPDATER=1",
		"HOME=/home/agent",
		"MINE=yes",
		"NO_PROXY=127.0.0.1,localhost,::1", "no_proxy=127.0.0.1,localhost,::1",
	}
	if diff := cmp.Diff(want, env); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestClaudeActions(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]agents.Action{
		"Bash": agents.ActionCommand, "Write": agents.ActionEdit, "NotebookEdit": agents.ActionEdit, "Read": agents.ActionRead, "Grep": agents.ActionSearch,
		"WebFetch": agents.ActionWeb, "Task": agents.ActionTask, "Agent": agents.ActionTask, "mcp__a__b": agents.ActionMCP, "Brandnew": agents.ActionOther,
	} {
		if got := actionOf(tool); got != want {
			t.Errorf("action of %s = %s, want %s", tool, got, want)
		}
	}
}

func TestInfoNamesOneVersion(t *testing.T) {
	t.Parallel()
	info := agent{}.Info()
	if strings.Count(info.Version, ".") != 2 || info.Package == "" || !slices.Contains(info.Secrets, "ANTHROPIC_API_KEY") {
		t.Errorf("info = %+v", info)
	}
}
