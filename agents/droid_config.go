package agents

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/url"

	"sandboxrun/sandbox"
)

const (
	// droidSettingsPath is where a turn's settings lie below HOME. They are those
	// of an organization, which win over the repository's; a user's do not.
	droidSettingsPath = ".factory/organization.json"
	droidMCPPath      = ".factory/mcp.json"
	// droidModelID names the turn's model among the CLI's. It stays the same, so
	// that a session can be taken up with another model behind it.
	droidModelID = "custom:sandboxrun"
)

// droidModels are the models of turns that name none, by wire.
var droidModels = map[Wire]string{
	WireAnthropicMessages: "claude-sonnet-5-5",
	WireOpenAIChat:        "gpt-6.1-sol",
	WireOpenAIResponses:   "gpt-6.1-sol",
}

// droidModel is one model in the CLI's settings.
type droidModel struct {
	ID       string `json:"id"`
	Name     string `json:"displayName"`
	Model    string `json:"model"`
	BaseURL  string `json:"baseUrl"`
	APIKey   string `json:"apiKey"`
	Provider string `json:"provider"`
}

func droidModelOf(t Turn) droidModel {
	m := droidModel{ID: droidModelID, Model: t.Model, BaseURL: t.BaseURL + "/v1", APIKey: t.Token}
	if m.Model == "" {
		m.Model = droidModels[t.Wire]
	}
	switch t.Wire {
	case WireOpenAIChat:
		m.Provider = "generic-chat-completion-api"
	case WireOpenAIResponses:
		m.Provider = "openai"
	default:
		m.Provider, m.BaseURL = "anthropic", t.BaseURL // the CLI adds the version
	}
	m.Name = m.Model
	return m
}

// droidSettings are a turn's settings. What the repository's settings say about
// hooks, models, plugins and MCP servers does not count beside them; the lists
// of commands are merged, and so the repository's allowed ones are denied, which
// makes the CLI ask.
func droidSettings(t Turn, tag string, allowed []string) map[string]any {
	model := droidModelOf(t)
	servers := []string{}
	for _, s := range t.MCP {
		if u, err := url.Parse(s.URL); err == nil && u.Hostname() != "" {
			servers = append(servers, u.Hostname())
		} else {
			servers = append(servers, tag)
		}
	}
	return map[string]any{
		"customModels":            []droidModel{model},
		"modelPolicy":             map[string]any{"allowCustomModels": true, "allowedBaseUrls": []string{model.BaseURL}},
		"allowManagedHooksOnly":   true,
		"mcpPolicy":               map[string]any{"enabled": true, "allowlist": servers},
		"strictEnabledPlugins":    true,
		"strictKnownMarketplaces": []string{},
		"commandAllowlist":        []string{},
		"commandDenylist":         append([]string{}, allowed...),
		"maxAutonomyLevel":        droidAutonomy(t),
		"subagentAutonomyLevel":   droidAutonomy(t),
		"telemetry":               map[string]any{"enabled": false},
		"disableAutoUpdate":       true,
		"cloudSessionSync":        false,
	}
}

// droidServer is one MCP server in the form of the CLI's configuration.
type droidServer struct {
	Type     string            `json:"type"` // stdio or http
	Command  string            `json:"command,omitempty"`
	Args     []string          `json:"args,omitempty"`
	Env      map[string]string `json:"env,omitempty"`
	URL      string            `json:"url,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	Disabled bool              `json:"disabled"`
}

// droidServers are a turn's MCP servers. The CLI knows allowed programs by a
// word in their command line alone, so ours carry one nobody can guess.
func droidServers(t Turn, tag string) map[string]droidServer {
	list := map[string]droidServer{}
	for _, s := range t.MCP {
		if s.URL != "" {
			list[s.Name] = droidServer{Type: "http", URL: s.URL, Headers: s.Headers}
			continue
		}
		args := append([]string{"SANDBOXRUN_MCP=" + tag, s.Command}, s.Args...)
		list[s.Name] = droidServer{Type: "stdio", Command: "env", Args: args, Env: s.Env}
	}
	return list
}

// droidPrepare writes the settings of a turn into the box.
func droidPrepare(ctx context.Context, box sandbox.Sandbox, t Turn) error {
	allowed, err := droidRepositoryWords(ctx, box)
	if err != nil {
		return err
	}
	tag := rand.Text()
	for _, f := range []struct {
		name    string
		content any
	}{
		{droidSettingsPath, droidSettings(t, tag, allowed)},
		{droidMCPPath, map[string]any{"mcpServers": droidServers(t, tag)}},
	} {
		b, err := json.Marshal(f.content)
		if err != nil {
			return fmt.Errorf("configure droid: %w", err)
		}
		if err := writeHome(ctx, box, f.name, b); err != nil {
			return err
		}
	}
	return nil
}
