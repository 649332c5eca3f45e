package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"path"

	"sandboxrun/agents"
	"sandboxrun/agents/cli"
	"sandboxrun/sandbox"
)

// mcpServer is one MCP server in the form of Claude Code's configuration.
type mcpServer struct {
	Type    string            `json:"type"` // stdio or http
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// writeServers writes the MCP servers of a turn into the box. The CLI is told
// to take them from there and from nowhere else.
func writeServers(ctx context.Context, box sandbox.Sandbox, mcpPath, mcpKey string, servers []agents.Server) error {
	if len(servers) == 0 {
		return nil
	}
	list := map[string]mcpServer{}
	for _, s := range servers {
		c := mcpServer{Type: "stdio", Command: s.Command, Args: s.Args, Env: s.Env}
		if s.URL != "" {
			c = mcpServer{Type: "http", URL: s.URL, Headers: s.Headers}
		}
		list[s.Name] = c
	}
	b, err := json.Marshal(map[string]any{mcpKey: list})
	if err != nil {
		return fmt.Errorf("configure mcp servers: %w", err)
	}
	return cli.WriteHome(ctx, box, mcpPath, b)
}

// mcpArgs are the arguments that name that file.
func mcpArgs(t agents.Turn, mcpPath string) []string {
	if len(t.MCP) == 0 {
		return nil
	}
	return []string{"--mcp-config", path.Join(sandbox.Home, mcpPath)}
}
