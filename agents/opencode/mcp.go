package opencode

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"sandboxrun/agents/cli"
)

// serverPoll is how often the server is asked which MCP servers are connected.
const serverPoll = 200 * time.Millisecond

// connect waits until every MCP server of the task is connected or has failed,
// within a bound, and reports those that are not: the model is offered the tools
// of those only that are when it is asked.
func (t *peer) connect() error {
	if len(t.Turn.MCP) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(t.ctx, cli.ServerLimit)
	defer cancel()
	tick := time.NewTicker(serverPoll)
	defer tick.Stop()
	for {
		var status map[string]struct {
			Status string `json:"status"`
			Error  string `json:"error"`
		}
		err := t.server.call(ctx, http.MethodGet, "/mcp", nil, &status)
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("ask for the MCP servers: %w", err)
		}
		open := 0
		for _, s := range t.Turn.MCP {
			if _, known := status[s.Name]; !known {
				open++
			}
		}
		if open > 0 && ctx.Err() == nil {
			select {
			case <-tick.C:
				continue
			case <-ctx.Done():
			}
		}
		if t.ctx.Err() != nil {
			return errors.New("the turn was stopped")
		}
		t.Post(func() {
			for _, s := range t.Turn.MCP {
				if at := status[s.Name]; at.Status != "connected" {
					t.ReportServer(s.Name, at.Error)
				}
			}
		})
		return nil
	}
}
