package claude

import (
	"slices"
	"strconv"
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

const (
	// retries bounds how often the CLI repeats a failed request; its own
	// default of 10 takes three minutes.
	retries = 3
	// requestMargin is how much longer than the idle limit the CLI waits for an
	// answer, so that silence is ended here and not retried there.
	requestMargin = 30 * time.Second
)

// commandLine is the command line of a turn. The profile's arguments come first,
// so that the ones that keep the repository's settings, hooks and MCP servers
// out have the last word.
func commandLine(info agents.Info, t agents.Turn) []string {
	argv := append([]string{info.Binary, "-p"}, t.Args...)
	if t.Model != "" {
		argv = append(argv, "--model", t.Model)
	}
	switch {
	case t.SessionID == "":
	case t.Resume:
		argv = append(argv, "--resume", t.SessionID)
	default:
		argv = append(argv, "--session-id", t.SessionID)
	}
	switch {
	case t.ReadOnly:
		argv = append(argv, "--permission-mode", "plan")
	case t.Settings.Bool("dangerously_skip_permissions"):
		argv = append(argv, "--dangerously-skip-permissions")
	}
	argv = append(argv, mcpArgs(t, info.MCPPath)...)
	return append(argv,
		"--output-format=stream-json",
		"--input-format=stream-json",
		"--verbose", // stream-json refuses to work without
		// Blocks come whole in any case; the parts are a sign of life.
		"--include-partial-messages",
		"--permission-prompt-tool=stdio",
		"--setting-sources", "user",
		"--strict-mcp-config",
	)
}

// environment is the environment of a turn.
func environment(t agents.Turn) []string {
	return cli.Environment(t, map[string]string{
		"CLAUDE_CODE_MAX_RETRIES": strconv.Itoa(retries),
		"API_TIMEOUT_MS":          strconv.FormatInt((t.IdleLimit() + requestMargin).Milliseconds(), 10),
		// Work that goes on after the result would be cut off by its end.
		"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
	}, map[string]string{
		"ANTHROPIC_BASE_URL": t.BaseURL,
		keyName(t):           t.Token,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
		"DISABLE_AUTOUPDATER":                      "1",
	}, slices.DeleteFunc([]string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"}, func(name string) bool {
		return name == keyName(t) // a second credential would win over the placeholder
	})...)
}

// keyName is the variable that carries the placeholder. With
// disable_api_key it is sent as a login's token would be, for gateways that take
// no keys.
func keyName(t agents.Turn) string {
	if t.Settings.Bool("disable_api_key") {
		return "ANTHROPIC_AUTH_TOKEN"
	}
	return "ANTHROPIC_API_KEY"
}
