package droid

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/url"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/internal/wire"
	"sandboxrun/sandbox"
)

// wireModels are the models of turns that name none, by wire.
var wireModels = map[wire.Wire]string{
	wire.AnthropicMessages: "claude-sonnet-5-5",
	wire.OpenAIChat:        "gpt-6.1-sol",
	wire.OpenAIResponses:   "gpt-6.1-sol",
}

// customModel is one model in the CLI's settings.
type customModel struct {
	ID       string `json:"id"`
	Name     string `json:"displayName"`
	Model    string `json:"model"`
	BaseURL  string `json:"baseUrl"`
	APIKey   string `json:"apiKey"`
	Provider string `json:"provider"`
}

func modelOf(t agents.Turn) customModel {
	m := customModel{ID: modelID, Model: t.Model, BaseURL: t.BaseURL + "/v1", APIKey: t.Token}
	if m.Model == "" {
		m.Model = wireModels[t.Wire]
	}
	switch t.Wire {
	case wire.OpenAIChat:
		m.Provider = "generic-chat-completion-api"
	case wire.OpenAIResponses:
		m.Provider = "openai"
	default:
		m.Provider, m.BaseURL = "anthropic", t.BaseURL // the CLI adds the version
	}
	m.Name = m.Model
	return m
}

// settingsOf are a turn's settings. What the repository's settings say about
// hooks, models, plugins and MCP servers does not count next to them; the lists
// of commands are merged, and so the repository's allowed ones are denied, which
// makes the CLI ask.
func settingsOf(t agents.Turn, tag string, allowed []string) map[string]any {
	model := modelOf(t)
	servers := []string{}
	for _, s := range t.MCP {
		if u, err := url.Parse(s.URL); err == nil && u.Hostname() != "" {
			servers = append(servers, u.Hostname())
		} else {
			servers = append(servers, tag)
		}
	}
	return map[string]any{
		"customModels":            []customModel{model},
		"modelPolicy":             map[string]any{"allowCustomModels": true, "allowedBaseUrls": []string{model.BaseURL}},
		"allowManagedHooksOnly":   true,
		"mcpPolicy":               map[string]any{"enabled": true, "allowlist": servers},
		"strictEnabledPlugins":    true,
		"strictKnownMarketplaces": []string{},
		"commandAllowlist":        []string{},
		"commandDenylist":         append([]string{}, allowed...),
		"maxAutonomyLevel":        autonomyOf(t),
		"subagentAutonomyLevel":   autonomyOf(t),
		"telemetry":               map[string]any{"enabled": false},
		"disableAutoUpdate":       true,
		"cloudSessionSync":        false,
	}
}

// mcpServer is one MCP server in the form of the CLI's configuration.
type mcpServer struct {
	Type     string            `json:"type"` // stdio or http
	Command  string            `json:"command,omitempty"`
	Args     []string          `json:"args,omitempty"`
	Env      map[string]string `json:"env,omitempty"`
	URL      string            `json:"url,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	Disabled bool              `json:"disabled"`
}

// serversOf are a turn's MCP servers. The CLI knows allowed programs by a
// word in their command line alone, so ours carry one that cannot be guessed.
func serversOf(t agents.Turn, tag string) map[string]mcpServer {
	list := map[string]mcpServer{}
	for _, s := range t.MCP {
		if s.URL != "" {
			list[s.Name] = mcpServer{Type: "http", URL: s.URL, Headers: s.Headers}
			continue
		}
		args := append([]string{"SANDBOXRUN_MCP=" + tag, s.Command}, s.Args...)
		list[s.Name] = mcpServer{Type: "stdio", Command: "env", Args: args, Env: s.Env}
	}
	return list
}

// prepare writes the settings of a turn into the box.
func prepare(ctx context.Context, box sandbox.Sandbox, t agents.Turn) error {
	allowed, err := repositorySettingStrings(ctx, box)
	if err != nil {
		return err
	}
	tag := rand.Text()
	for _, f := range []struct {
		name    string
		content any
	}{
		{settingsPath, settingsOf(t, tag, allowed)},
		{mcpPath, map[string]any{"mcpServers": serversOf(t, tag)}},
	} {
		b, err := json.Marshal(f.content)
		if err != nil {
			return fmt.Errorf("configure droid: %w", err)
		}
		if err := cli.WriteHome(ctx, box, f.name, b); err != nil {
			return err
		}
	}
	return nil
}
