package opencode

import (
	"sandboxrun/agents"
	"sandboxrun/internal/wire"
)

// modePlan is the mode of a profile in which nothing is edited.
const modePlan = "plan"

// program is a CLI that this package drives: Opencode, or one made from it. What
// they share is not here.
type program struct {
	info   agents.Info // the version of the package is written there only
	prefix string      // of the environment variables that configure it
	config string      // its configuration's directory, below HOME
	// builder is its agent that works, planner the one that edits nothing. planning
	// is what a planner is told that does not know it plans.
	builder, planner, planning string
	// denied are the tools no turn has a use for: those by which the model changes
	// its own mode, and what acts after the turn or on others than its tree.
	denied []string
	// agents are settings of its own agents, nil for none. rules are the turn's.
	agents func(rules map[string]string) map[string]any
	// givesUp says that it does not repeat a request whose answer broke off.
	givesUp bool
	// environment is what configures it beyond what all have.
	environment map[string]string
	// ignored are its events without interest for a turn, beyond those of all.
	ignored map[string]bool
}

// opencode loads the plugins of a repository, those below .opencode, inside its
// server from the first prompt on: nothing switches that off in this version.
var opencode = program{
	info: agents.Info{
		Name:     "opencode",
		Executor: "OPENCODE",
		Title:    "Opencode",
		Package:  "opencode-ai",
		Version:  "1.18.33",
		Binary:   "opencode",
		// Opencode is one native binary; the package around it is not kept.
		Install:   agents.Install{Script: `install -D -m 0755 "$(readlink -f "$PREFIX/bin/opencode")" "$OUT/usr/local/bin/opencode"`},
		Providers: []string{"anthropic", "openai", "google"},
		Models:    []string{"claude-sonnet-4-6", "gpt-5.6-terra", "gemini-3-pro-image-preview"},
		Wires:     []wire.Wire{wire.AnthropicMessages, wire.OpenAIResponses, wire.OpenAIChat, wire.GoogleGenerate},
		Secrets:   []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"},
		MCPPath:   ".config/opencode/opencode.json",
		MCPKey:    "mcp",
		Setup:     "put an API key of Anthropic, OpenAI or Google into ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY",
		Protocol:  "`serve`: HTTP and server-sent events inside the box",
		Limits: []string{
			"loads the plugins of the repository, and no setting turns that off. They run in the box, which has no key and no network.",
		},
		EnvPrefixes: []string{"OPENCODE_"},
		Obeys:       []string{"AGENTS.md", "opencode.json", "opencode.jsonc", ".opencode/"},
		Logins:      []string{".local/share/opencode/auth.json"},
		Traces:      []string{".local/share/opencode", ".config/opencode"},
		Keep: []string{
			".local/share/opencode/opencode.db", ".local/share/opencode/opencode.db-wal", ".local/share/opencode/opencode.db-shm",
		},
		Options: []agents.Option{
			{Name: "auto_approve", Type: agents.OptionBool, Help: "let the agent use its tools without asking first"},
			{Name: "mode", Type: agents.OptionString, Values: []string{"build", modePlan}, Help: "which of Opencode's agents works: build, or plan, which edits no files"},
		},
	},
	prefix:  "OPENCODE_",
	config:  ".config/opencode",
	builder: "build",
	planner: modePlan,
	denied:  []string{"plan_enter", "plan_exit"},
}
