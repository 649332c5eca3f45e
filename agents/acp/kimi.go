package acp

import (
	"context"
	_ "embed"
	"fmt"
	"path"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/internal/wire"
	"sandboxrun/sandbox"
)

func init() { agents.Register(kimi()) }

// kimi drives Kimi Code over ACP; agent has the states of a turn.
//
// What the protocol does not say of it: a turn that fails ends as "end_turn"
// too, and no answer carries tokens. Both are in the journal the CLI keeps of
// its session, which is read after every prompt (kimiJournal); a turn of which
// the journal does not say that it is complete is a failure. A call is "in
// progress" while the model still writes its input. Questions are permission
// requests with one option for each answer. In a repository it writes files
// unasked, so every turn runs with a guard, and nothing is prompted before that
// has said that it is there.
//
// It trusts no folder of its own accord, so the repository's MCP servers and
// additional directories are off; its instructions, skills and agents count.
func kimi() agent {
	return agent{
		info: kimiInfo, command: kimiCommand, quirks: kimiQuirks,
		prepare: func(ctx context.Context, box sandbox.Sandbox, t agents.Turn) error {
			config, err := toml.Marshal(kimiConfigOf(t))
			if err != nil {
				return fmt.Errorf("configure kimi: %w", err)
			}
			if err := cli.WriteHome(ctx, box, kimiHome+"/config.toml", config); err != nil {
				return err
			}
			return cli.WriteHome(ctx, box, kimiGuardPath, kimiGuard)
		},
		journal: func(box sandbox.Sandbox) journal { return &kimiJournal{box: box} },
	}
}

// What the CLI has below HOME.
const (
	kimiHome      = ".kimi-code"
	kimiSessions  = kimiHome + "/sessions"
	kimiIndex     = kimiHome + "/session_index.jsonl"
	kimiGuardPath = kimiHome + "/sandboxrun-guard.mjs"
)

// kimiGuard makes the CLI ask before it writes in a repository.
//
//go:embed kimi_guard.mjs
var kimiGuard []byte

func kimiInfo() agents.Info {
	return agents.Info{
		Name:     "kimi",
		Executor: "KIMI_CODE",
		Title:    "Kimi Code",
		Package:  "@moonshot-ai/kimi-code",
		Version:  "2.1.0",
		Binary:   "kimi",
		// The web page of its server is half of the package, and never shown here.
		Install: agents.Install{Script: `rm -rf "$PREFIX/lib/node_modules/@moonshot-ai/kimi-code/dist-web"
program=$(readlink -e "$PREFIX/bin/kimi")
mkdir -p "$OUT$(dirname "$PREFIX")" "$OUT/usr/local/bin"
ln -s "$program" "$OUT/usr/local/bin/kimi"
mv "$PREFIX" "$OUT$PREFIX"`},
		Providers: []string{"openai", "anthropic", "google"},
		Models:    kimiModels(),
		Wires:     []wire.Wire{wire.OpenAIChat, wire.OpenAIResponses, wire.AnthropicMessages, wire.GoogleGenerate},
		Secrets:   []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"},
		MCPPath:   kimiHome + "/mcp.json",
		MCPKey:    "mcpServers",
		Setup:     "put the key of a provider into OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or configure a provider that serves Kimi's models",
		Protocol:  acpProtocol,
		Limits: []string{
			"would write in a repository without asking. The file that makes it ask is in HOME of the box and is read once, at the start; a turn in which it is missing is not begun.",
			"reports the exit code only of commands that fail; of others it is null in `commands_run`.",
			"forwards only the first of several questions that its model asks at once.",
			"takes instructions, skills and agents from the repository: `.kimi-code/agents/agent.md` may replace its system prompt.",
		},
		EnvPrefixes: []string{"KIMI_"},
		Obeys:       []string{"AGENTS.md", ".kimi-code/", ".agents/"},
		Logins:      []string{kimiHome + "/credentials"},
		Traces:      []string{kimiHome},
		Keep:        []string{kimiSessions, kimiIndex},
		Options: []agents.Option{{
			Name: "approval_mode", Type: agents.OptionString, Values: []string{kimiManual, "yolo", "auto"},
			Help: "what the CLI asks for: everything that changes something, only what it considers risky, or nothing",
		}},
	}
}

// kimiModels lists the models that the program is given where the user names none.
func kimiModels() []string {
	var list []string
	for _, p := range kimiProviders {
		if !slices.Contains(list, p.model) {
			list = append(list, p.model)
		}
	}
	slices.Sort(list)
	return list
}

func kimiCommand(t agents.Turn) (argv, env []string) {
	argv = append([]string{kimiInfo().Binary}, t.Args...)
	return append(argv, "acp"), cli.Environment(t, nil, map[string]string{
		"NODE_OPTIONS":             "--import=" + path.Join(sandbox.Home, kimiGuardPath),
		"KIMI_DISABLE_TELEMETRY":   "1",
		"KIMI_CODE_NO_AUTO_UPDATE": "1",
		"KIMI_DISABLE_CRON":        "1",
		"KIMI_LOG_LEVEL":           "off",
	}, "KIMI_CODE_HOME", "KIMI_MODEL_NAME", "KIMI_CODE_EXPERIMENTAL_FLAG", "KIMI_CODE_CUSTOM_HEADERS")
}

// kimiProvider is how the CLI speaks one wire.
type kimiProvider struct {
	kind  string // its own name of the API
	path  string // of the API below its base URL
	model string // of turns that name none
}

var kimiProviders = map[wire.Wire]kimiProvider{
	wire.OpenAIChat:        {kind: "openai", path: "/v1", model: "gpt-6.1-sol"},
	wire.OpenAIResponses:   {kind: "openai_responses", path: "/v1", model: "gpt-6.1-sol"},
	wire.AnthropicMessages: {kind: "anthropic", model: "claude-sonnet-5-5"}, // the CLI adds the version
	wire.GoogleGenerate:    {kind: "google-genai", model: "gemini-2.5-pro"},
}

func kimiProviderOf(t agents.Turn) kimiProvider {
	if p, ok := kimiProviders[t.Wire]; ok {
		return p
	}
	return kimiProviders[wire.OpenAIChat]
}

func kimiModelOf(t agents.Turn) string {
	if t.Model != "" {
		return t.Model
	}
	return kimiProviderOf(t).model
}

const (
	// kimiManual is the CLI's mode that asks before it changes something.
	kimiManual = "manual"
	// kimiAlias is the name of the turn's model and provider in the configuration.
	kimiAlias = "sandboxrun"
	// kimiContext is the size that the CLI assumes of the model's context, in tokens.
	kimiContext = 200_000
	// kimiAttempts bounds how often a failing request is made; its own bound of 10
	// takes minutes, and nothing is heard of it meanwhile.
	kimiAttempts = 4
)

// kimiConfig is the configuration of a turn.
type kimiConfig struct {
	Model     string                  `toml:"default_model"`
	Mode      string                  `toml:"default_permission_mode"`
	Plan      bool                    `toml:"default_plan_mode"`
	Telemetry bool                    `toml:"telemetry"`
	Product   bool                    `toml:"builtin_product_skills"`
	Providers map[string]kimiEndpoint `toml:"providers"`
	Models    map[string]kimiModel    `toml:"models"`
	Loop      map[string]int          `toml:"loop_control"`
	MCP       map[string]int64        `toml:"mcp"`
	Thinking  map[string]bool         `toml:"thinking"`
}

type kimiEndpoint struct {
	Type    string `toml:"type"`
	BaseURL string `toml:"base_url"`
	APIKey  string `toml:"api_key"`
}

type kimiModel struct {
	Provider string   `toml:"provider"`
	Model    string   `toml:"model"`
	Context  int      `toml:"max_context_size"`
	Can      []string `toml:"capabilities"`
}

func kimiConfigOf(t agents.Turn) kimiConfig {
	p := kimiProviderOf(t)
	mode := t.Settings.String("approval_mode")
	if mode == "" || t.ReadOnly {
		mode = kimiManual
	}
	return kimiConfig{
		Model: kimiAlias, Mode: mode, Plan: t.ReadOnly,
		Providers: map[string]kimiEndpoint{kimiAlias: {Type: p.kind, BaseURL: t.BaseURL + p.path, APIKey: t.Token}},
		Models:    map[string]kimiModel{kimiAlias: {Provider: kimiAlias, Model: kimiModelOf(t), Context: kimiContext, Can: []string{"tool_use"}}},
		Loop:      map[string]int{"max_attempts_per_step": kimiAttempts},
		MCP:       map[string]int64{"startup_timeout_ms": cli.ServerLimit.Milliseconds()},
		Thinking:  map[string]bool{"enabled": false},
	}
}
