package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"path"

	"sandboxrun/sandbox"
)

// claudeServer is one MCP server in the form of Claude Code's configuration.
type claudeServer struct {
	Type    string            `json:"type"` // stdio or http
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// claudeConfigure writes the MCP servers of a turn into the box. The CLI is told
// to take them from there and from nowhere else.
func claudeConfigure(ctx context.Context, box sandbox.Sandbox, mcpPath, mcpKey string, servers []Server) error {
	if len(servers) == 0 {
		return nil
	}
	list := map[string]claudeServer{}
	for _, s := range servers {
		c := claudeServer{Type: "stdio", Command: s.Command, Args: s.Args, Env: s.Env}
		if s.URL != "" {
			c = claudeServer{Type: "http", URL: s.URL, Headers: s.Headers}
		}
		list[s.Name] = c
	}
	b, err := json.Marshal(map[string]any{mcpKey: list})
	if err != nil {
		return fmt.Errorf("configure mcp servers: %w", err)
	}
	return writeHome(ctx, box, mcpPath, b)
}

// claudeMCPArgs is how the CLI is told of them.
func claudeMCPArgs(t Turn, mcpPath string) []string {
	if len(t.MCP) == 0 {
		return nil
	}
	return []string{"--mcp-config", path.Join(sandbox.Home, mcpPath)}
}
