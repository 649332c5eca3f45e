package agents

import (
	"context"
	"fmt"

	"github.com/pelletier/go-toml/v2"

	"sandboxrun/sandbox"
)

const (
	// codexHome is Codex's own directory, below HOME. It must exist before Codex
	// starts and must not be under /tmp.
	codexHome       = ".codex"
	codexConfigPath = codexHome + "/config.toml"
	// codexProvider is the provider of our configuration. One of Codex's own
	// would try a WebSocket first and ignore the variable of the key.
	codexProvider = "sandboxrun"
	// codexKey is the variable the placeholder is in; the model's shell has none.
	codexKey = "SANDBOXRUN_MODEL_KEY"
	// codexRetries bounds how often a request, and a stream that broke, is
	// repeated; Codex's own 4 and 5 make 30 requests of a failing one.
	codexRetries = 2
)

// codexConfig is the configuration of a turn. Unknown keys are an error of the
// CLI, so that a newer version cannot ignore one that protects.
type codexConfig struct {
	Model      string                        `toml:"model,omitempty"`
	Provider   string                        `toml:"model_provider"`
	Providers  map[string]codexProviderEntry `toml:"model_providers"`
	WebSearch  string                        `toml:"web_search,omitempty"`
	Update     bool                          `toml:"check_for_update_on_startup"`
	Unstable   bool                          `toml:"suppress_unstable_features_warning"`
	Analytics  map[string]bool               `toml:"analytics"`
	Otel       map[string]string             `toml:"otel"`
	Features   map[string]bool               `toml:"features"`
	Shell      codexShell                    `toml:"shell_environment_policy"`
	Projects   map[string]codexProject       `toml:"projects"`
	MCPServers map[string]codexServer        `toml:"mcp_servers,omitempty"`
}

type codexProviderEntry struct {
	Name           string `toml:"name"`
	BaseURL        string `toml:"base_url"`
	WireAPI        string `toml:"wire_api"`
	EnvKey         string `toml:"env_key"`
	RequestRetries int    `toml:"request_max_retries"`
	StreamRetries  int    `toml:"stream_max_retries"`
	StreamIdleMS   int64  `toml:"stream_idle_timeout_ms"`
}

// codexShell is what the model's commands see of the environment: all that every
// process of the box sees, but not what is for Codex alone.
type codexShell struct {
	Inherit string   `toml:"inherit"`
	Exclude []string `toml:"exclude"`
}

type codexProject struct {
	Trust string `toml:"trust_level"`
}

type codexServer struct {
	Command string            `toml:"command,omitempty"`
	Args    []string          `toml:"args,omitempty"`
	Env     map[string]string `toml:"env,omitempty"`
	URL     string            `toml:"url,omitempty"`
	Headers map[string]string `toml:"http_headers,omitempty"`
}

func newCodexConfig(t Turn) codexConfig {
	c := codexConfig{
		Model:    t.Model,
		Provider: codexProvider,
		Providers: map[string]codexProviderEntry{codexProvider: {
			Name: codexProvider, BaseURL: t.BaseURL + "/v1", WireAPI: "responses", EnvKey: codexKey,
			RequestRetries: codexRetries, StreamRetries: codexRetries,
			// Silence is ended here and not retried there.
			StreamIdleMS: (t.idle() + codexLate).Milliseconds(),
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
		Shell: codexShell{Inherit: "all", Exclude: []string{codexKey, "CODEX_*"}},
		// thread/start would trust the repository by itself, and from then on
		// believe the repository's own configuration, rules and MCP servers.
		Projects: map[string]codexProject{sandbox.WorkDir: {Trust: "untrusted"}},
	}
	if codexPolicy(t.Settings) == codexUntrusted {
		// The provider searches without anybody being asked, past the box's network.
		c.WebSearch = "disabled"
	}
	if len(t.MCP) > 0 {
		c.MCPServers = map[string]codexServer{}
	}
	for _, s := range t.MCP {
		c.MCPServers[s.Name] = codexServer{Command: s.Command, Args: s.Args, Env: s.Env, URL: s.URL, Headers: s.Headers}
	}
	return c
}

// codexPrepare writes the configuration into the box.
func codexPrepare(ctx context.Context, box sandbox.Sandbox, t Turn) error {
	b, err := toml.Marshal(newCodexConfig(t))
	if err != nil {
		return fmt.Errorf("encode codex configuration: %w", err)
	}
	return writeHome(ctx, box, codexConfigPath, b)
}
