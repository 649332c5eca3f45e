package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"sandboxrun/runner/document"
	"sandboxrun/runner/view"
)

// waitGap is how often a run that is waited for is looked at.
const waitGap = 300 * time.Millisecond

// Submit sends a task. When it returns, the server has accepted it, and the run needs neither caller nor server.
func (c *Client) Submit(ctx context.Context, task []byte) (view.RunView, error) {
	var v view.RunView
	return v, c.post(ctx, "/execute", task, http.Header{"Prefer": {"respond-async"}}, &v)
}

// Cancel asks for the end of a run.
func (c *Client) Cancel(ctx context.Context, run, reason string) error {
	body, err := json.Marshal(map[string]string{"reason": reason})
	if err != nil {
		return fmt.Errorf("call the server: %w", err)
	}
	var v view.RunView
	return c.post(ctx, "/api/runs/"+url.PathEscape(run)+"/cancel", body, nil, &v)
}

// Wait returns the stored result of a run once it has one, or of the run that repeats it. A task that could not be begun
// has the error of its error document. A server that restarts is awaited.
func (c *Client) Wait(ctx context.Context, run string) ([]byte, error) {
	again := time.NewTicker(waitGap)
	defer again.Stop()
	var lost time.Time
	for {
		var d struct {
			view.RunView
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Error document.ErrorBody `json:"error"`
			} `json:"error"`
		}
		err := c.get(ctx, "/api/runs/"+url.PathEscape(run), &d)
		bridge := (*document.BridgeError)(nil)
		switch {
		case errors.As(err, &bridge):
			if lost.IsZero() {
				lost = time.Now()
			}
			if time.Since(lost) > patience {
				bridge.Message += "; run " + run + " was accepted and goes on"
				return nil, err
			}
		case err != nil:
			return nil, err
		case d.State == view.Ended && d.SupersededBy != "":
			run, lost = d.SupersededBy, time.Time{}
		case d.State == view.Ended && len(d.Result) > 0:
			return d.Result, nil
		case d.State == view.Refused && d.Error != nil:
			return nil, ErrorOf(d.Error.Error, http.StatusBadRequest)
		default:
			lost = time.Time{}
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// post sends a document and reads the one of the answer.
func (c *Client) post(ctx context.Context, path string, body []byte, header http.Header, into any) error {
	if header == nil {
		header = http.Header{}
	}
	res, err := c.do(ctx, http.MethodPost, path, body, header)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, document.MaxDocument))
	if err != nil {
		return c.gone(ctx, err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return &document.BridgeError{Message: fmt.Sprintf("the server at %s sent what is no answer: %v", c.base, err), Hint: "another program may listen there"}
	}
	return nil
}
