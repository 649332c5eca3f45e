package acp

import (
	"context"
	"encoding/json"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/internal/wire"
	"sandboxrun/sandbox"
)

func init() { agents.Register(copilot()) }

// copilot drives GitHub Copilot CLI over ACP; agent has the states of a turn.
// It is always run against the box's own endpoint, in its offline mode, in which
// it has no use for an account and asks no host of its vendor.
//
// What the protocol does not say of it: failures of the model arrive as words of
// the agent and then a regular end (copilotNotice, copilotVerdict); a denied call
// ends the model's turn without the model being told, so it is prompted again
// with the reason (peer.goOn); its count of tokens covers the session.
// Repositories cannot configure it, as it never trusts their folder. Their hooks
// it would run all the same: the image forbids that (Install).
func copilot() agent {
	return agent{
		info: copilotInfo, command: copilotCommand, quirks: copilotQuirks,
		prepare: func(ctx context.Context, box sandbox.Sandbox, _ agents.Turn) error {
			return cli.WriteHome(ctx, box, ".copilot/settings.json", []byte(copilotSettings))
		},
	}
}

func copilotInfo() agents.Info {
	return agents.Info{
		Name:     "copilot",
		Executor: "COPILOT",
		Title:    "GitHub Copilot CLI",
		Package:  "@github/copilot",
		Version:  "1.0.102",
		Binary:   "copilot",
		// The package's program is a stub that starts the real one and keeps signals
		// from it. That one unpacks itself at its first start, which the image does.
		// Over its protocol it runs a repository's hooks unless the machine's own
		// policy forbids it: no setting of the user's and no flag does.
		Install: agents.Install{Script: `install -D -m 0755 "$PREFIX"/lib/node_modules/@github/copilot/node_modules/@github/copilot-linux-*/copilot "$OUT/usr/local/bin/copilot"
COPILOT_SEA_EXTRACT_ONLY=1 COPILOT_CACHE_HOME=` + copilotCache + ` "$OUT/usr/local/bin/copilot" --version
chmod -R a+rX ` + copilotCache + `
mkdir "$OUT/opt"
mv ` + copilotCache + ` "$OUT` + copilotCache + `"
mkdir -p "$OUT/etc/github-copilot"
echo '{"allowManagedHooksOnly":true}' >"$OUT/etc/github-copilot/managed-settings.json"`},
		Providers:   []string{"github", "openai", "anthropic"},
		Models:      []string{copilotModel, copilotClaudeModel},
		Wires:       []wire.Wire{wire.OpenAIChat, wire.OpenAIResponses, wire.AnthropicMessages},
		Secrets:     []string{"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"},
		MCPPath:     ".copilot/mcp-config.json",
		MCPKey:      "mcpServers",
		Setup:       "put a GitHub token with access to Copilot into COPILOT_GITHUB_TOKEN, or configure a provider of OpenAI's or Anthropic's API",
		Protocol:    acpProtocol,
		Remark:      "its own-provider mode: no GitHub login",
		EnvPrefixes: []string{"COPILOT_"},
		Obeys: []string{
			"AGENTS.md", "COPILOT.md", ".copilot/", ".vscode/", "/.github/copilot-instructions.md", "/.github/instructions/",
			"/.github/agents/", "/.github/prompts/", "/.github/hooks/", "/.github/copilot/",
		},
		Vendor: &agents.Vendor{
			Name: "github", KeyEnv: "COPILOT_PROVIDER_API_KEY",
			Wires: []wire.Wire{wire.OpenAIChat, wire.OpenAIResponses, wire.AnthropicMessages},
		},
		Logins: []string{".copilot/config.json"},
		Traces: []string{".copilot"},
		Keep:   []string{".copilot/session-state"},
		Options: []agents.Option{
			{Name: "yolo", Type: agents.OptionBool, Help: "run every tool without asking"},
			{Name: "allowed_tools", Type: agents.OptionStrings, Help: "tools that run without asking, in the CLI's own form, such as shell(git:*)"},
		},
	}
}

// copilotSettings are the settings of the CLI's user.
const copilotSettings = `{"ide":{"autoConnect":false},"autoUpdate":false}`

func copilotCommand(t agents.Turn) (argv, env []string) {
	argv = append([]string{copilotInfo().Binary}, t.Args...)
	if !t.ReadOnly {
		if t.Settings.Bool("yolo") {
			argv = append(argv, "--allow-all-tools", "--allow-all-paths", "--allow-all-urls")
		}
		for _, tool := range t.Settings.Strings("allowed_tools") {
			argv = append(argv, "--allow-tool="+tool)
		}
	}
	if config := copilotMCP(t.MCP); config != "" {
		argv = append(argv, "--additional-mcp-config", config)
	}
	argv = append(argv, "--acp", "--no-auto-update", "--disable-client-telemetry", "--no-remote", "--disable-builtin-mcps")
	provider := map[string]string{
		"COPILOT_PROVIDER_TYPE":     "openai",
		"COPILOT_PROVIDER_BASE_URL": t.BaseURL + "/v1",
		"COPILOT_PROVIDER_API_KEY":  t.Token,
		"COPILOT_MODEL":             copilotModelOf(t),
		"COPILOT_OFFLINE":           "true",
		"COPILOT_AUTO_UPDATE":       "false",
		"COPILOT_CACHE_HOME":        copilotCache,
	}
	switch t.Wire {
	case wire.AnthropicMessages:
		provider["COPILOT_PROVIDER_TYPE"], provider["COPILOT_PROVIDER_BASE_URL"] = "anthropic", t.BaseURL
	case wire.OpenAIResponses:
		provider["COPILOT_PROVIDER_WIRE_API"] = "responses"
	default:
		provider["COPILOT_PROVIDER_WIRE_API"] = "completions"
	}
	// These would trust the repository, bring another key, or move the CLI's files.
	return argv, cli.Environment(t, nil, provider, "COPILOT_ALLOW_ALL", "COPILOT_PROVIDER_BEARER_TOKEN", "COPILOT_PROVIDER_API_KEY_COMMAND",
		"COPILOT_PROVIDER_TRANSPORT", "COPILOT_PROVIDER_WIRE_MODEL", "COPILOT_HOME", "COPILOT_CLI_DIST_DIR",
		"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")
}

// copilotMCP is the configuration of the turn's MCP servers, "" for none. The
// CLI takes no programs from a client of its protocol.
func copilotMCP(servers []agents.Server) string {
	if len(servers) == 0 {
		return ""
	}
	type entry struct {
		Type string `json:"type"`
		agents.Server
		Tools []string `json:"tools"`
	}
	list := map[string]entry{}
	for _, s := range servers {
		e := entry{Type: "local", Server: s, Tools: []string{"*"}}
		if s.URL != "" {
			e.Type = "http"
		} else if e.Args == nil {
			e.Args = []string{}
		}
		list[s.Name] = e
	}
	b, err := json.Marshal(map[string]any{"mcpServers": list})
	if err != nil {
		return "" // strings always marshal
	}
	return string(b)
}
