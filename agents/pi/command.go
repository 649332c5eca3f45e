package pi

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"path"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/internal/wire"
	"sandboxrun/sandbox"
)

// What the CLI has below HOME.
const (
	agentDir    = ".pi/agent"
	sessionsDir = agentDir + "/sessions"
	guardPath   = ".pi/sandboxrun/guard.mjs"
)

// clientDir is where the image has the client of MCP servers (serverKit).
const clientDir = "/opt/agents/pi/lib/node_modules/@modelcontextprotocol/sdk/dist/esm/client"

// guard is the extension that every turn runs with.
//
//go:embed guard.mjs
var guard []byte

// provider is how the CLI speaks one wire.
type provider struct {
	id    string
	api   string // of a provider that the CLI does not know
	path  string // of the API below its base URL
	model string // of turns that name none
}

// providers are the CLI's own where it has one for the wire: it knows their
// models then, what they can take and whether they think.
var providers = map[wire.Wire]provider{
	wire.AnthropicMessages: {id: "anthropic", model: "claude-sonnet-5-5"}, // the CLI adds the version
	wire.OpenAIResponses:   {id: "openai", path: "/v1", model: "gpt-6.1-sol"},
	wire.OpenAIChat:        {id: "sandboxrun", api: "openai-completions", path: "/v1", model: "gpt-6.1-sol"},
	wire.GoogleGenerate:    {id: "google", path: "/v1beta", model: "gemini-2.5-pro"},
}

func providerOf(t agents.Turn) provider {
	if p, ok := providers[t.Wire]; ok {
		return p
	}
	return providers[wire.AnthropicMessages]
}

func modelOf(t agents.Turn) string {
	if t.Model != "" {
		return t.Model
	}
	return providerOf(t).model
}

// commandLine is the command line of a turn. The profile's arguments come first,
// so that the ones the protocol needs have the last word. A profile cannot have
// "--", which would make prompts of those.
func commandLine(binary string, t agents.Turn) []string {
	argv := append([]string{binary}, t.Args...)
	argv = append(argv, "--mode", "rpc",
		// Nothing of the repository but its instructions: no settings, extensions,
		// skills and templates, and no session directory of its own.
		"--no-approve", "--no-extensions", "--no-skills", "--no-prompt-templates", "--no-themes",
		"--extension", path.Join(sandbox.Home, guardPath),
		"--session-dir", path.Join(sandbox.Home, sessionsDir),
		"--provider", providerOf(t).id, "--model", modelOf(t))
	if t.SessionID != "" {
		argv = append(argv, "--session-id", t.SessionID) // one that is there is gone on with
	}
	if v := t.Settings.String("thinking"); v != "" {
		argv = append(argv, "--thinking", v)
	}
	if t.ReadOnly {
		argv = append(argv, "--exclude-tools", "edit,write",
			"--append-system-prompt", "This turn only looks and plans: change nothing. Answer with the plan.")
	}
	return argv
}

// environment is the environment of a turn. Its commands inherit all of it, so no
// key is in it, not even the placeholder.
func environment(t agents.Turn) []string {
	return cli.Environment(t, nil, map[string]string{
		"PI_CODING_AGENT_DIR":   path.Join(sandbox.Home, agentDir),
		"PI_OFFLINE":            "1",
		"PI_SKIP_VERSION_CHECK": "1",
		"PI_TELEMETRY":          "0",
	}, "PI_PACKAGE_DIR", "PI_CODING_AGENT_SESSION_DIR")
}

// modelsOf is the CLI's configuration of models: one provider, reached through
// the box's loopback.
func modelsOf(t agents.Turn) map[string]any {
	p := providerOf(t)
	config := map[string]any{"baseUrl": t.BaseURL + p.path, "apiKey": t.Token}
	if p.api != "" {
		config["api"] = p.api
		thinks := t.Settings.String("thinking") != "" && t.Settings.String("thinking") != "off"
		config["models"] = []map[string]any{{"id": modelOf(t), "reasoning": thinks}}
	}
	return map[string]any{"providers": map[string]any{p.id: config}}
}

// settings bound the CLI's attempts and keep it from requests nobody asked for.
var settings = map[string]any{
	"retry":                  map[string]any{"maxRetries": 3, "baseDelayMs": 2000, "maxAgentDelayMs": 10000},
	"cacheWarming":           "off",
	"defaultProjectTrust":    "never",
	"enableInstallTelemetry": false,
}

// maxServed bounds the result of an MCP server's tool, in characters: well below
// cli.MaxLine, as the CLI repeats it in several frames and escapes it.
const maxServed = 256 << 10

// guardOf is the guard of a turn.
func guardOf(t agents.Turn) ([]byte, error) {
	servers := map[string]agents.Server{}
	for _, s := range t.MCP {
		servers[s.Name] = s
	}
	setup, err := json.Marshal(map[string]any{"servers": servers, "wait": cli.ServerLimit.Milliseconds(), "most": maxServed, "sdk": clientDir})
	if err != nil {
		return nil, fmt.Errorf("configure pi: %w", err)
	}
	return append([]byte("const setup = "+string(setup)+";\n"), guard...), nil
}

// prepare writes the settings of a turn into the box.
func prepare(ctx context.Context, box sandbox.Sandbox, t agents.Turn) error {
	content, err := guardOf(t)
	if err != nil {
		return err
	}
	if err := cli.WriteHome(ctx, box, guardPath, content); err != nil {
		return err
	}
	for _, f := range []struct {
		name    string
		content any
	}{{agentDir + "/models.json", modelsOf(t)}, {agentDir + "/settings.json", settings}} {
		b, err := json.Marshal(f.content)
		if err != nil {
			return fmt.Errorf("configure pi: %w", err)
		}
		if err := cli.WriteHome(ctx, box, f.name, b); err != nil {
			return err
		}
	}
	return nil
}
