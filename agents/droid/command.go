package droid

import (
	"path"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/sandbox"
)

const (
	// settingsPath is where a turn's settings lie below HOME. They are those
	// of an organization, which win over the repository's; a user's do not.
	settingsPath = ".factory/organization.json"
	mcpPath      = ".factory/mcp.json"
	// modelID names the turn's model among the CLI's. It stays the same, so
	// that a session can be taken up with another model behind it.
	modelID = "custom:sandboxrun"
)

// startScript says the version, which the protocol does not tell, and becomes
// the CLI. It starts outside of the tree: what a program loads from where it is
// started (.env, bunfig.toml) must not come from the repository.
const startScript = `cd / && "$0" --version && exec "$0" "$@"`

// commandLine is the command line of a turn. The profile's arguments come first,
// so that the ones the protocol needs have the last word.
func commandLine(binary string, t agents.Turn) []string {
	argv := append([]string{"sh", "-c", startScript, binary, "exec"}, t.Args...)
	return append(argv, "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc")
}

// environment is the environment of a turn. Its commands inherit all of it, so no
// key is in it, not even the placeholder.
func environment(t agents.Turn) []string {
	return cli.Environment(t, nil, map[string]string{
		// Nothing leaves but requests to the configured model and MCP servers.
		"FACTORY_AIRGAP_ENABLED":                  "true",
		"FACTORY_DROID_AUTO_UPDATE_ENABLED":       "false",
		"FACTORY_OTEL_ENABLED":                    "false",
		"FACTORY_DISABLE_KEYRING":                 "1",
		"FACTORY_DISABLE_DYNAMIC_CONFIG":          "true",
		"FACTORY_ORG_MANAGED_SETTINGS_LOCAL_PATH": path.Join(sandbox.Home, settingsPath),
	}, "FACTORY_API_KEY", "FACTORY_API_BASE_URL", "FACTORY_HOME_OVERRIDE", "FACTORY_RUNTIME_SETTINGS_PATH",
		"FACTORY_ORG_MANAGED_SETTINGS_URL", "FACTORY_FEATURE_FLAGS_OVERRIDES", "E2E_MOCK_LLM", "VITEST_WORKER_ID")
}

// autonomyOff is the autonomy under which the CLI asks before everything that
// does something.
const autonomyOff = "off"

// autonomyOf is the autonomy of a turn. The CLI raises it for what the model
// claims to be harmless, so a turn that only looks has none.
func autonomyOf(t agents.Turn) string {
	if v := t.Settings.String("autonomy"); v != "" && !t.ReadOnly {
		return v
	}
	return autonomyOff
}

// modeOf is the CLI's word for a turn that does, or one that only plans.
func modeOf(t agents.Turn) string {
	if t.ReadOnly {
		return "spec"
	}
	return "auto"
}
