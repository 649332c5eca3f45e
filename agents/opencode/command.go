package opencode

import (
	"regexp"
	"strconv"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// startScript serves until its standard input ends, and then kills all of
// its process group. Its first line keeps the directory of the configuration
// empty and closed: a server that can write there asks the package registry for
// the kit its plugins are made with.
const startScript = `mkdir -p "$HOME/.config/opencode" && chmod 0555 "$HOME/.config/opencode"
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
(while read -r line <&3; do :; done; kill -KILL 0) >/dev/null 2>&1 &
watch=$!
exec 3<&-
wait "$server"
code=$?
kill -KILL "$watch"
exit "$code"`

// commandLine is the command line of a turn. The profile's arguments come
// first, so that ours have the last word.
func commandLine(binary string, t agents.Turn) []string {
	argv := append([]string{"sh", "-c", startScript, "sh", binary, "serve"}, t.Args...)
	return append(argv, "--hostname", "127.0.0.1", "--port", "0")
}

// environment is the environment of a turn.
func environment(t agents.Turn, s serverSetup) []string {
	return cli.Environment(t, nil, map[string]string{
		"OPENCODE_CONFIG_CONTENT":  s.config,
		"OPENCODE_SERVER_USERNAME": serverUser,
		"OPENCODE_SERVER_PASSWORD": s.password,
		// The repository's settings, MCP servers, agents, commands and skills.
		"OPENCODE_DISABLE_PROJECT_CONFIG":     "1",
		"OPENCODE_DISABLE_CLAUDE_CODE":        "1",
		"OPENCODE_DISABLE_CLAUDE_CODE_PROMPT": "1",
		"OPENCODE_DISABLE_CLAUDE_CODE_SKILLS": "1",
		"OPENCODE_DISABLE_EXTERNAL_SKILLS":    "1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS":    "1",
		"OPENCODE_PURE":                       "1",
		// The way to its maker.
		"OPENCODE_DISABLE_AUTOUPDATE":   "1",
		"OPENCODE_DISABLE_MODELS_FETCH": "1",
		"OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
		"OPENCODE_DISABLE_SHARE":        "1",
		// What a turn has no use for.
		"OPENCODE_DISABLE_EMBEDDED_WEB_UI":          "1",
		"OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER": "1",
	},
		// These would win over the configuration above, or move what is kept.
		"OPENCODE_PERMISSION", "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_AUTH_CONTENT", "OPENCODE_DB",
		"OPENCODE_MODELS_URL", "OPENCODE_MODELS_PATH", "OPENCODE_API_KEY", "OPENCODE_CONSOLE_TOKEN",
		"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
	)
}

// listeningPattern is what the server prints when it serves.
var listeningPattern = regexp.MustCompile(`^opencode server listening on http://127\.0\.0\.1:([1-9][0-9]{0,4})$`)

// portOf reads the port of the server.
func portOf(line []byte) (port int, ok bool) {
	m := listeningPattern.FindSubmatch(line)
	if m == nil {
		return 0, false
	}
	port, err := strconv.Atoi(string(m[1]))
	return port, err == nil && port <= 65535
}
