package codex

import (
	"context"
	"fmt"

	"github.com/pelletier/go-toml/v2"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/sandbox"
)

// configuration is the configuration of a turn. Unknown keys are an error of the
// CLI, so that a newer version cannot ignore one that protects.
type configuration struct {
	Model      string                   `toml:"model,omitempty"`
	Provider   string                   `toml:"model_provider"`
	Providers  map[string]providerEntry `toml:"model_providers"`
	WebSearch  string                   `toml:"web_search,omitempty"`
	Update     bool                     `toml:"check_for_update_on_startup"`
	Unstable   bool                     `toml:"suppress_unstable_features_warning"`
	Analytics  map[string]bool          `toml:"analytics"`
	Otel       map[string]string        `toml:"otel"`
	Features   map[string]bool          `toml:"features"`
	Shell      shellPolicy              `toml:"shell_environment_policy"`
	Projects   map[string]projectTrust  `toml:"projects"`
	MCPServers map[string]mcpServer     `toml:"mcp_servers,omitempty"`
}

type providerEntry struct {
	Name           string `toml:"name"`
	BaseURL        string `toml:"base_url"`
	WireAPI        string `toml:"wire_api"`
	EnvKey         string `toml:"env_key"`
	RequestRetries int    `toml:"request_max_retries"`
	StreamRetries  int    `toml:"stream_max_retries"`
	StreamIdleMS   int64  `toml:"stream_idle_timeout_ms"`
}

// shellPolicy is what the model's commands see of the environment: all that every
// process of the box sees, but not what is for Codex alone.
type shellPolicy struct {
	Inherit string   `toml:"inherit"`
	Exclude []string `toml:"exclude"`
}

type projectTrust struct {
	Trust string `toml:"trust_level"`
}

type mcpServer struct {
	Command string            `toml:"command,omitempty"`
	Args    []string          `toml:"args,omitempty"`
	Env     map[string]string `toml:"env,omitempty"`
	URL     string            `toml:"url,omitempty"`
	Headers map[string]string `toml:"http_headers,omitempty"`
}

func newConfiguration(t agents.Turn) configuration {
	c := configuration{
		Model:    t.Model,
		Provider: providerName,
		Providers: map[string]providerEntry{providerName: {
			Name: providerName, BaseURL: t.BaseURL + "/v1", WireAPI: "responses", EnvKey: keyVariable,
			RequestRetries: retries, StreamRetries: retries,
			// Silence is ended here and not retried there.
			StreamIdleMS: (t.IdleLimit() + requestMargin).Milliseconds(),
		}},
		Unstable:  true, // the warning about them is for people
		Analytics: map[string]bool{"enabled": false},
		Otel:      map[string]string{"exporter": "none"},
		Features: map[string]bool{
			// These reach for hosts of the vendor.
			"plugins": false, "apps": false, "remote_plugin": false,
			// A repository has no say in what is run when.
			"hooks": false, "skill_mcp_dependency_install": false,
			// Without an end where the provider cannot be reached.
			"unbounded_connection_retries": false,
			// The model may ask the user outside of planning, too.
			"default_mode_request_user_input": true,
		},
		Shell: shellPolicy{Inherit: "all", Exclude: []string{keyVariable, "CODEX_*"}},
		// thread/start would trust the repository by itself, and from then on
		// believe the repository's own configuration, rules and MCP servers.
		Projects: map[string]projectTrust{sandbox.WorkDir: {Trust: "untrusted"}},
	}
	if approvalPolicy(t.Settings) == policyUntrusted {
		// The provider searches without anybody being asked, past the box's network.
		c.WebSearch = "disabled"
	}
	if len(t.MCP) > 0 {
		c.MCPServers = map[string]mcpServer{}
	}
	for _, s := range t.MCP {
		c.MCPServers[s.Name] = mcpServer{Command: s.Command, Args: s.Args, Env: s.Env, URL: s.URL, Headers: s.Headers}
	}
	return c
}

// prepare writes the configuration into the box.
func prepare(ctx context.Context, box sandbox.Sandbox, t agents.Turn) error {
	b, err := toml.Marshal(newConfiguration(t))
	if err != nil {
		return fmt.Errorf("encode codex configuration: %w", err)
	}
	return cli.WriteHome(ctx, box, configPath, b)
}
