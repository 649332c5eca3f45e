package agents

import (
	"regexp"
	"strconv"
)

// opencodeScript serves until its standard input ends, and then kills all of
// its process group. Its first line keeps the directory of the configuration
// empty and closed: a server that can write there asks the package registry for
// the kit its plugins are made with.
const opencodeScript = `mkdir -p "$HOME/.config/opencode" && chmod 0555 "$HOME/.config/opencode"
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

// opencodeArgv is the command line of a turn. The profile's arguments come
// first, so that ours have the last word.
func opencodeArgv(binary string, t Turn) []string {
	argv := append([]string{"sh", "-c", opencodeScript, "sh", binary, "serve"}, t.Args...)
	return append(argv, "--hostname", "127.0.0.1", "--port", "0")
}

// opencodeEnv is the environment of a turn.
func opencodeEnv(t Turn, s opencodeSetup) []string {
	return environment(t, nil, map[string]string{
		"OPENCODE_CONFIG_CONTENT":  s.config,
		"OPENCODE_SERVER_USERNAME": opencodeUser,
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

// opencodeListening is what the server prints when it serves.
var opencodeListening = regexp.MustCompile(`^opencode server listening on http://127\.0\.0\.1:([1-9][0-9]{0,4})$`)

// opencodePort reads the port of the server.
func opencodePort(line []byte) (port int, ok bool) {
	m := opencodeListening.FindSubmatch(line)
	if m == nil {
		return 0, false
	}
	port, err := strconv.Atoi(string(m[1]))
	return port, err == nil && port <= 65535
}
