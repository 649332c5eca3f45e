package codex

import (
	"time"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/sandbox"
)

const (
	// homeDir is Codex's own directory, below HOME. It must exist before Codex
	// starts and must not be under /tmp.
	homeDir    = ".codex"
	configPath = homeDir + "/config.toml"
	// providerName is the provider of our configuration. One of Codex's own
	// would try a WebSocket first and ignore the variable of the key.
	providerName = "sandboxrun"
	// keyVariable is the variable the placeholder is in; the model's shell has none.
	keyVariable = "SANDBOXRUN_MODEL_KEY"
	// retries bounds how often a request, and a stream that broke, is
	// repeated; Codex's own 4 and 5 make 30 requests of a failing one.
	retries = 2
)

// requestMargin is how much longer than the idle limit Codex waits for the next
// part of an answer.
const requestMargin = 30 * time.Second

// commandLine is the command line of a turn. What it knows of the turn is in its
// configuration and in the requests; an unknown key there ends it.
func commandLine(binary string, t agents.Turn) []string {
	return append(append([]string{binary}, t.Args...), "app-server", "--strict-config")
}

// environment is the environment of a turn.
func environment(t agents.Turn) []string {
	return cli.Environment(t, nil, map[string]string{
		"CODEX_HOME": sandbox.Home + "/" + homeDir,
		keyVariable:  t.Token,
	}, "OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL")
}

// profileOptions are the fields of a Codex profile.
var profileOptions = []agents.Option{
	{Name: "sandbox", Type: agents.OptionString, Values: []string{"read-only", "workspace-write", "danger-full-access"}, ReadOnly: []string{"read-only"},
		Help: "what the agent may write; the box is the boundary in any case, and read-only mounts the tree that way"},
	{Name: "ask_for_approval", Type: agents.OptionString, Values: []string{policyUntrusted, "on-request", "never"},
		Help: "when the agent asks: before everything (untrusted, the default), when it thinks it should, or never"},
	{Name: "oss", Type: agents.OptionBool, Help: "accepted and ignored: a box has no local model"},
	{Name: "model_reasoning_effort", Type: agents.OptionString, Help: "how long the model thinks, for example low, medium or high"},
	{Name: "model_reasoning_summary", Type: agents.OptionString, Values: []string{"auto", "concise", "detailed", "none"},
		Help: "how much of its thinking the model tells"},
	{Name: "profile", Type: agents.OptionString, Help: "accepted and ignored: a box does not see the profiles of the user's configuration"},
	{Name: "base_instructions", Type: agents.OptionString, Help: "instructions in place of the agent's own"},
}

// policyUntrusted is the approval policy under which everything is asked.
const policyUntrusted = "untrusted"

// approvalPolicy is when Codex asks.
func approvalPolicy(s agents.Settings) string {
	if v := s.String("ask_for_approval"); v != "" {
		return v
	}
	return policyUntrusted
}

// ignoredSettings says which fields of the profile have no meaning in a box.
func ignoredSettings(s agents.Settings) (notes []string) {
	if s.Bool("oss") {
		notes = append(notes, "the profile's oss is ignored: there is no local model in the box")
	}
	if s.String("profile") != "" {
		notes = append(notes, "the profile's profile is ignored: the user's Codex configuration is not in the box")
	}
	return notes
}
