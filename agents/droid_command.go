package agents

import (
	"path"

	"sandboxrun/sandbox"
)

// droidStart says the version, which the protocol does not tell, and becomes
// the CLI. It starts outside of the tree: what a program loads from where it is
// started (.env, bunfig.toml) must not come from the repository.
const droidStart = `cd / && "$0" --version && exec "$0" "$@"`

// droidArgv is the command line of a turn. The profile's arguments come first,
// so that the ones the protocol needs have the last word.
func droidArgv(binary string, t Turn) []string {
	argv := append([]string{"sh", "-c", droidStart, binary, "exec"}, t.Args...)
	return append(argv, "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc")
}

// droidEnv is the environment of a turn. Its commands inherit all of it, so no
// key is in it, not even the placeholder.
func droidEnv(t Turn) []string {
	return environment(t, nil, map[string]string{
		// Nothing leaves but requests to the configured model and MCP servers.
		"FACTORY_AIRGAP_ENABLED":                  "true",
		"FACTORY_DROID_AUTO_UPDATE_ENABLED":       "false",
		"FACTORY_OTEL_ENABLED":                    "false",
		"FACTORY_DISABLE_KEYRING":                 "1",
		"FACTORY_DISABLE_DYNAMIC_CONFIG":          "true",
		"FACTORY_ORG_MANAGED_SETTINGS_LOCAL_PATH": path.Join(sandbox.Home, droidSettingsPath),
	}, "FACTORY_API_KEY", "FACTORY_API_BASE_URL", "FACTORY_HOME_OVERRIDE", "FACTORY_RUNTIME_SETTINGS_PATH",
		"FACTORY_ORG_MANAGED_SETTINGS_URL", "FACTORY_FEATURE_FLAGS_OVERRIDES", "E2E_MOCK_LLM", "VITEST_WORKER_ID")
}

// droidAsksAll is the autonomy under which the CLI asks before everything that
// does something.
const droidAsksAll = "off"

// droidAutonomy is the autonomy of a turn. The CLI raises it for what the model
// claims to be harmless, so a turn that only looks has none.
func droidAutonomy(t Turn) string {
	if v := t.Settings.String("autonomy"); v != "" && !t.ReadOnly {
		return v
	}
	return droidAsksAll
}

// droidMode is the CLI's word for a turn that does, or one that only plans.
func droidMode(t Turn) string {
	if t.ReadOnly {
		return "spec"
	}
	return "auto"
}
