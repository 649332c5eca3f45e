package acp

import (
	"path"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/internal/wire"
)

func init() { agents.Register(gemini()) }

// gemini drives Gemini CLI over ACP; agent has the states of a turn.
//
// What the protocol does not say of it: a stream of the model that breaks ends
// the turn at once, as an error or as an end without any token, so the model is
// asked to go on a few times (geminiAgain) and an end without tokens is a
// failure (geminiVerdict). Neither the input of tools nor the output and the
// exit code of commands are sent: calls show their titles and differences, and
// the results of commands have no exit code. A denied call has no further
// update, and its reason does not reach the model. A loaded session is told
// again after the answer and ends with a list of commands; what loading does to
// the files of the session is repaired before (geminiPrepare). With an MCP
// server that still runs the CLI stays when its input ends.
//
// It trusts the folder for this run by a flag, so that modes can be chosen. The
// repository's settings, hooks and .env are read early and only where trust came
// from the environment, which is why that variable is never set; the base URL
// is, always, so that no .env can.
func gemini() agent {
	return agent{info: geminiInfo, command: geminiCommand, prepare: geminiPrepare, quirks: geminiQuirks}
}

func geminiInfo() agents.Info {
	return agents.Info{
		Name:     "gemini",
		Executor: "GEMINI",
		Title:    "Gemini CLI",
		Package:  "@google/gemini-cli",
		Version:  "0.61.0",
		Binary:   "gemini",
		// It reads settings of the system only from a file that root owns in a
		// directory that root owns, which no file of HOME is.
		Install: agents.Install{Script: `program=$(readlink -e "$PREFIX/bin/gemini")
mkdir -p "$OUT$(dirname "$PREFIX")" "$OUT/usr/local/bin" "$OUT` + path.Dir(geminiSystem) + `"
ln -s "$program" "$OUT/usr/local/bin/gemini"
mv "$PREFIX" "$OUT$PREFIX"
echo '` + string(geminiConfig()) + `' >"$OUT` + geminiSystem + `"`},
		Providers: []string{"google"},
		Models:    []string{geminiModel},
		Helpers:   []string{"gemini-*-flash", "gemini-*-flash-lite"},
		Wires:     []wire.Wire{wire.GoogleGenerate},
		Secrets:   []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
		MCPPath:   geminiSettings,
		MCPKey:    "mcpServers",
		Setup:     "put an API key of Google AI Studio into GEMINI_API_KEY",
		Protocol:  acpProtocol,
		Limits: []string{
			"reports neither the output nor the exit code of its commands; they are in `commands_run` with `exit_code` null.",
		},
		EnvPrefixes: []string{"GEMINI_", "GOOGLE_"},
		Obeys:       []string{"GEMINI.md", ".gemini/"},
		Logins:      []string{".gemini/oauth_creds.json"},
		Traces:      []string{".gemini"},
		Keep:        []string{geminiChats, geminiProjects},
		Options: []agents.Option{{
			Name: "approval_mode", Type: agents.OptionString, Values: []string{"default", "auto_edit", "yolo", "plan"},
			Help: "what the CLI asks for: everything, all but edits, nothing, or nothing because it only plans",
		}},
	}
}

func geminiCommand(t agents.Turn) (argv, env []string) {
	argv = append([]string{geminiInfo().Binary}, t.Args...)
	if mode := t.Settings.String("approval_mode"); t.ReadOnly {
		argv = append(argv, "--approval-mode", "plan")
	} else if mode != "" {
		argv = append(argv, "--approval-mode", mode)
	}
	argv = append(argv, "--acp", "--skip-trust", "-m", geminiModelOf(t))
	return argv, cli.Environment(t, nil, map[string]string{
		"GOOGLE_GEMINI_BASE_URL": t.BaseURL,
		"GEMINI_API_KEY":         t.Token,
		// The CLI would start itself a second time, in a parent that keeps signals
		// from it and takes its memory by the host's and not the box's.
		"GEMINI_CLI_NO_RELAUNCH": "true",
		// Settings of the system are over those of a repository.
		"GEMINI_CLI_SYSTEM_SETTINGS_PATH": geminiSystem,
	}, "GEMINI_CLI_TRUST_WORKSPACE", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA",
		"GOOGLE_VERTEX_BASE_URL", "GEMINI_MODEL", "GEMINI_CLI_HOME", "GEMINI_SANDBOX", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH")
}
