package opencode

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"

	"errors"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/internal/wire"
	"sandboxrun/sandbox"
)

// serverSetup is what a server is started with.
type serverSetup struct {
	config   string // JSON
	password string // opens the server; the agent's own commands see it too
	agent    string
	system   string // what the model is told beyond the program's own words
}

// wireProvider is how the program speaks one wire.
type wireProvider struct {
	ID      string
	Package string // where the id does not say which
	Path    string // of the API below its base URL
}

// All of these are part of the binary: none is fetched.
var wireProviders = map[wire.Wire]wireProvider{
	wire.AnthropicMessages: {ID: "anthropic", Path: "/v1"},
	wire.OpenAIResponses:   {ID: "openai", Path: "/v1"},
	wire.OpenAIChat:        {ID: "compatible", Package: "@ai-sdk/openai-compatible", Path: "/v1"},
	wire.GoogleGenerate:    {ID: "google", Path: "/v1beta"},
}

func (p *program) newServerSetup(t agents.Turn) (serverSetup, error) {
	if t.Dial == nil {
		return serverSetup{}, errNoDial
	}
	s := serverSetup{password: rand.Text(), agent: p.builder}
	if t.Settings.String("mode") == modePlan || t.ReadOnly {
		s.agent, s.system = p.planner, p.planning
	}
	b, err := json.Marshal(p.configuration(t))
	if err != nil {
		return serverSetup{}, fmt.Errorf("encode configuration: %w", err)
	}
	s.config = string(b)
	return s, nil
}

// configuration is the configuration of a turn.
func (p *program) configuration(t agents.Turn) map[string]any {
	via, ok := wireProviders[t.Wire]
	if !ok {
		via = wireProviders[wire.AnthropicMessages]
	}
	provider := map[string]any{"options": map[string]any{"baseURL": strings.TrimSuffix(t.BaseURL, "/") + via.Path, "apiKey": t.Token}}
	if via.Package != "" {
		provider["npm"], provider["name"] = via.Package, via.ID
	}
	rules := p.permissionsOf(t)
	config := map[string]any{
		"autoupdate": false, "share": "disabled",
		// Without this the maker's own provider is connected, and the default.
		"enabled_providers": []string{via.ID},
		"provider":          map[string]any{via.ID: provider},
		"permission":        rules,
		"mcp":               mcpServers(t.MCP),
		// Formatters and language servers are programs of the repository, and
		// would run unasked; snapshots are for an undo that is not used here.
		"formatter": false, "lsp": false, "snapshot": false,
		// The project's configuration is off, and its instructions with it.
		"instructions": []string{sandbox.WorkDir + "/AGENTS.md"},
		// The model learns of a denial and goes on.
		"experimental": map[string]any{"continue_loop_on_deny": true},
	}
	if p.agents != nil {
		config["agent"] = p.agents(rules)
	}
	if model := strings.TrimPrefix(t.Model, via.ID+"/"); model != "" {
		provider["models"] = map[string]any{model: map[string]any{}}
		config["model"], config["small_model"] = via.ID+"/"+model, via.ID+"/"+model
	}
	return config
}

// permissionsOf says what the agent asks for: everything but looking
// around and what has an effect only by further calls. The last rule that
// matches counts, and encoding sorts "*" to the front.
func (p *program) permissionsOf(t agents.Turn) map[string]string {
	ask := "ask"
	if t.Settings.Bool("auto_approve") {
		ask = "allow"
	}
	rules := map[string]string{"*": ask}
	for _, name := range []string{"read", "list", "glob", "grep", "lsp", "task", "skill", "todoread", "todowrite", "question"} {
		rules[name] = "allow"
	}
	for _, name := range p.denied {
		rules[name] = "deny"
	}
	if t.ReadOnly || t.Settings.String("mode") == modePlan {
		rules["edit"] = "deny"
	}
	return rules
}

func mcpServers(servers []agents.Server) map[string]any {
	all := map[string]any{}
	for _, s := range servers {
		if s.URL != "" {
			all[s.Name] = map[string]any{"type": "remote", "url": s.URL, "headers": s.Headers, "oauth": false, "enabled": true, "timeout": cli.ServerLimit.Milliseconds()}
			continue
		}
		all[s.Name] = map[string]any{"type": "local", "command": append([]string{s.Command}, s.Args...), "environment": s.Env, "enabled": true, "timeout": cli.ServerLimit.Milliseconds()}
	}
	return all
}

// errNoDial says that there is no way to the server in the box.
var errNoDial = errors.New("nothing connects to the box's loopback, where the agent serves")
