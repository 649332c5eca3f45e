package opencode

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"strconv"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
)

// closeConfig keeps the directory of the configuration empty and closed: a server
// that can write there asks the package registry for the kit its plugins are made
// with.
const closeConfig = `mkdir -p "$HOME/%[1]s" && chmod 0555 "$HOME/%[1]s"` + "\n"

// startScript serves until its standard input ends, and then kills all of its
// process group.
const startScript = `exec 3<&0
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
func commandLine(p *program, t agents.Turn) []string {
	argv := append([]string{"sh", "-c", fmt.Sprintf(closeConfig, p.config) + startScript, "sh", p.info.Binary, "serve"}, t.Args...)
	return append(argv, "--hostname", "127.0.0.1", "--port", "0")
}

// environment is the environment of a turn.
func environment(p *program, t agents.Turn, s serverSetup) []string {
	set := maps.Clone(p.environment)
	if set == nil {
		set = map[string]string{}
	}
	for name, value := range map[string]string{
		"CONFIG_CONTENT":  s.config,
		"SERVER_USERNAME": serverUser,
		"SERVER_PASSWORD": s.password,
		// The repository's settings, MCP servers, agents, commands and skills.
		"DISABLE_PROJECT_CONFIG":     "1",
		"DISABLE_CLAUDE_CODE":        "1",
		"DISABLE_CLAUDE_CODE_PROMPT": "1",
		"DISABLE_CLAUDE_CODE_SKILLS": "1",
		"DISABLE_EXTERNAL_SKILLS":    "1",
		"DISABLE_DEFAULT_PLUGINS":    "1",
		"PURE":                       "1",
		// The way to its maker.
		"DISABLE_AUTOUPDATE":   "1",
		"DISABLE_MODELS_FETCH": "1",
		"DISABLE_LSP_DOWNLOAD": "1",
		"DISABLE_SHARE":        "1",
		// What a turn has no use for.
		"DISABLE_EMBEDDED_WEB_UI":          "1",
		"EXPERIMENTAL_DISABLE_FILEWATCHER": "1",
	} {
		set[p.prefix+name] = value
	}
	unset := []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"}
	// These would win over the configuration above, or move what is kept.
	for _, name := range []string{
		"PERMISSION", "CONFIG", "CONFIG_DIR", "AUTH_CONTENT", "DB", "MODELS_URL", "MODELS_PATH", "API_KEY", "CONSOLE_TOKEN",
	} {
		unset = append(unset, p.prefix+name)
	}
	return cli.Environment(t, nil, set, unset...)
}

// addressPattern is the end of the line that a program prints when it serves.
var addressPattern = regexp.MustCompile(`^http://127\.0\.0\.1:([1-9][0-9]{0,4})$`)

// portOf reads the port of the server.
func (p *program) portOf(line []byte) (port int, ok bool) {
	address, ok := bytes.CutPrefix(line, []byte(p.info.Binary+" server listening on "))
	m := addressPattern.FindSubmatch(address)
	if !ok || m == nil {
		return 0, false
	}
	port, err := strconv.Atoi(string(m[1]))
	return port, err == nil && port <= 65535
}
