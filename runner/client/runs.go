package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"sandboxrun/runner/view"
)

// FollowUp is the next message to the agent of a session.
type FollowUp struct {
	Prompt         string `json:"prompt"`
	Variant        string `json:"variant,omitempty"`
	RetryProcessID string `json:"retry_process_id,omitempty"` // the run to go back before
}

// FollowUp sends the next message of a session. When it returns, the server has accepted it.
func (c *Client) FollowUp(ctx context.Context, session string, f FollowUp) (view.RunView, error) {
	body, err := json.Marshal(f)
	if err != nil {
		return view.RunView{}, fmt.Errorf("call the server: %w", err)
	}
	var answer struct {
		Run view.RunView `json:"run"`
	}
	err = c.post(ctx, "/api/sessions/"+url.PathEscape(session)+"/follow-up", body, nil, &answer)
	return answer.Run, err
}

// Run shows a run.
func (c *Client) Run(ctx context.Context, run string) (view.RunView, error) {
	var v view.RunView
	err := c.get(ctx, "/api/runs/"+url.PathEscape(run), &v)
	return v, err
}

// Agents reads the list of agents.
func (c *Client) Agents(ctx context.Context, into any) error { return c.get(ctx, "/api/agents", into) }

// Diff opens the patch of an ended run, of that many bytes. The caller closes it.
func (c *Client) Diff(ctx context.Context, run string) (io.ReadCloser, int64, error) {
	res, err := c.do(ctx, http.MethodGet, "/api/runs/"+url.PathEscape(run)+"/diff", nil, nil)
	if err != nil {
		return nil, 0, err
	}
	return res.Body, max(0, res.ContentLength), nil
}
