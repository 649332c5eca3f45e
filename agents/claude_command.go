package agents

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"sandboxrun/sandbox"
)

const (
	// claudeRetries bounds how often the CLI repeats a failed request; its own
	// default of 10 takes three minutes.
	claudeRetries = 3
	// claudeLate is how much longer than the idle limit the CLI waits for an
	// answer, so that silence is ended here and not retried there.
	claudeLate = 30 * time.Second
)

// claudeArgv is the command line of a turn. The profile's arguments come first,
// so that the ones that keep the repository's settings, hooks and MCP servers
// out have the last word.
func claudeArgv(binary string, t Turn) []string {
	argv := append([]string{binary, "-p"}, t.Args...)
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

// claudeEnv is the environment of a turn: defaults a profile may change, the
// profile's own, and what nobody may change.
func claudeEnv(t Turn) []string {
	env := map[string]string{
		"CLAUDE_CODE_MAX_RETRIES": strconv.Itoa(claudeRetries),
		"API_TIMEOUT_MS":          strconv.FormatInt((t.idle() + claudeLate).Milliseconds(), 10),
		// Work that goes on after the result would be cut off by its end.
		"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
	}
	for _, pair := range t.Env {
		if name, value, ok := strings.Cut(pair, "="); ok {
			env[name] = value
		}
	}
	maps.Copy(env, map[string]string{
		"ANTHROPIC_BASE_URL":                       t.BaseURL,
		"ANTHROPIC_API_KEY":                        t.Token,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
		"DISABLE_AUTOUPDATER":                      "1",
		"HOME":                                     sandbox.Home,
		"NO_PROXY":                                 "127.0.0.1,localhost,::1",
	})
	// A second credential would win over the placeholder.
	delete(env, "ANTHROPIC_AUTH_TOKEN")
	delete(env, "CLAUDE_CODE_OAUTH_TOKEN")
	list := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}
