package opencode

import (
	"maps"

	"sandboxrun/agents"
	"sandboxrun/internal/wire"
)

// kilo is Kilo Code. It was made from Opencode, and keeps its server, its events
// and its settings under names of its own. It differs in that nothing below the
// repository's .kilo and .kilocode is loaded once the project's configuration is
// off, but for what its older editions kept there: MCP servers, rules, modes and
// patterns of files, which nothing switches off in this version. It has tools that
// act after the turn, and waits for the network where a provider cannot be reached
// (see offline).
var kilo = program{
	info: agents.Info{
		Name:     "kilo",
		Executor: "KILO_CODE",
		Title:    "Kilo Code",
		Package:  "@kilocode/cli",
		Version:  "7.7.7",
		Binary:   "kilo",
		// npm takes the native program from an optional package of the image's
		// architecture, and the package's own script fails where there is none. Only
		// that program is kept: what lies next to it serves its index of the code, its
		// console and its sandbox, which are all off.
		Install:   agents.Install{Script: `install -D -m 0755 "$PREFIX/lib/node_modules/@kilocode/cli/bin/.kilo" "$OUT/usr/local/bin/kilo"`},
		Providers: []string{"anthropic", "openai", "google"},
		Models:    []string{"claude-sonnet-4-6", "gpt-5.6-terra", "gemini-3-pro-image-preview"},
		Wires:     []wire.Wire{wire.AnthropicMessages, wire.OpenAIResponses, wire.OpenAIChat, wire.GoogleGenerate},
		Secrets:   []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"},
		MCPPath:   ".config/kilo/kilo.json",
		MCPKey:    "mcp",
		Setup:     "put an API key of Anthropic, OpenAI or Google into ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY",
		Protocol:  "`serve`: HTTP and server-sent events inside the box",
		Limits: []string{
			"starts the MCP servers that a repository lists in `.kilocode/mcp.json` or `.kilo/mcp.json`, and obeys its rules and modes; no setting turns that off. It asks before it calls a tool of these servers. They run in the box, which has no key and no network.",
		},
		EnvPrefixes: []string{"KILO_"},
		Obeys:       []string{"AGENTS.md", "kilo.json", "kilo.jsonc", ".kilo/", ".kilocode/", ".kilocodemodes", ".kilocoderules", ".kilocodeignore"},
		Logins:      []string{".local/share/kilo/auth.json"},
		Traces:      []string{".local/share/kilo", ".config/kilo"},
		Keep:        []string{".local/share/kilo/kilo.db", ".local/share/kilo/kilo.db-wal", ".local/share/kilo/kilo.db-shm"},
		Options: []agents.Option{
			{Name: "auto_approve", Type: agents.OptionBool, Help: "let the agent use its tools without asking first"},
			{Name: "mode", Type: agents.OptionString, Values: []string{"code", modePlan}, Help: "which of Kilo Code's modes works: code, or plan, which edits no files"},
		},
	},
	prefix:  "KILO_",
	config:  ".config/kilo",
	builder: "code",
	// Its own plan agent begins with a directory in the tree, which a read-only tree
	// refuses.
	planner:  "code",
	planning: "This turn only plans. Read what you need, change nothing, and answer with the plan.",
	denied: []string{
		"plan_enter", "plan_exit", "suggest", "goal_report", "board_read", "board_post", "kilo_memory_recall", "kilo_memory_save", "kilo_local_recall",
		"background_process", "schedule_wakeup", "cancel_wakeup", "notify_user", "send_file", "repo_clone",
	},
	// Rules of single agents are over those of the configuration: the program's let
	// what it considers harmless run unasked, and so could the repository's. Nothing
	// changes those of the agent that only searches.
	agents: func(rules map[string]string) map[string]any {
		all := maps.Clone(rules)
		for _, name := range []string{"bash", "edit", "mcp"} { // those a mode of the repository has rules for
			if _, ok := all[name]; !ok {
				all[name] = rules["*"]
			}
		}
		own := map[string]any{"permission": all}
		return map[string]any{"code": own, "general": own, "explore": map[string]any{"disable": true}}
	},
	environment: map[string]string{
		"KILO_TELEMETRY_LEVEL":        "off",
		"KILO_DISABLE_SESSION_INGEST": "1",
		"KILO_DISABLE_PRESENCE":       "1",
	},
	givesUp: true,
	ignored: map[string]bool{
		"sync":              true, // the event before, for a copy of the session elsewhere
		"session.turn.open": true, "session.queue.changed": true, "session.drained": true,
		"session.network.replied": true, "session.network.restored": true, "session.network.rejected": true,
		"sandbox.status.changed": true, "indexing.status": true, "memory.status": true, "background_process.updated": true,
	},
}
