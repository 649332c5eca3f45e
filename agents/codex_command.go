package agents

import (
	"time"

	"sandboxrun/sandbox"
)

// codexLate is how much longer than the idle limit Codex waits for the next
// part of an answer.
const codexLate = 30 * time.Second

// codexArgv is the command line of a turn. What it knows of the turn is in its
// configuration and in the requests; an unknown key there ends it.
func codexArgv(binary string, t Turn) []string {
	return append(append([]string{binary}, t.Args...), "app-server", "--strict-config")
}

// codexEnv is the environment of a turn.
func codexEnv(t Turn) []string {
	return environment(t, nil, map[string]string{
		"CODEX_HOME": sandbox.Home + "/" + codexHome,
		codexKey:     t.Token,
	}, "OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL")
}
