package mcp

import (
	"context"

	"sandboxrun/runner/catalog"
	"sandboxrun/runner/client"
	"sandboxrun/runner/service"
	"sandboxrun/runner/view"
)

// Remote are the runs of a server.
type Remote struct{ Client *client.Client }

// Submit sends a task.
func (r Remote) Submit(ctx context.Context, task []byte) (view.RunView, error) {
	return r.Client.Submit(ctx, task)
}

// FollowUp sends the next message of a session.
func (r Remote) FollowUp(ctx context.Context, session string, f service.FollowUp) (view.RunView, error) {
	return r.Client.FollowUp(ctx, session, client.FollowUp{Prompt: f.Prompt, Variant: f.Variant, RetryProcessID: f.RetryRun})
}

// Run shows a run.
func (r Remote) Run(ctx context.Context, id string) (view.RunView, error) {
	if err := known(id); err != nil {
		return view.RunView{}, err
	}
	return r.Client.Run(ctx, id)
}

// Wait returns the result of a run. A server that restarts is awaited.
func (r Remote) Wait(ctx context.Context, id string) ([]byte, error) { return r.Client.Wait(ctx, id) }

// Cancel asks for the end of a run.
func (r Remote) Cancel(ctx context.Context, id, reason string) (view.RunView, error) {
	if err := known(id); err != nil {
		return view.RunView{}, err
	}
	if err := r.Client.Cancel(ctx, id, reason); err != nil {
		return view.RunView{}, err
	}
	return r.Client.Run(ctx, id)
}

// Diff opens the patch of an ended run.
func (r Remote) Diff(ctx context.Context, id string) (Patch, error) {
	if err := known(id); err != nil {
		return Patch{}, err
	}
	body, size, err := r.Client.Diff(ctx, id)
	return Patch{ReadCloser: body, Bytes: size}, err
}

// Agents lists the agents of the server.
func (r Remote) Agents(ctx context.Context) ([]catalog.Agent, error) {
	var list []catalog.Agent
	err := r.Client.Agents(ctx, &list)
	return list, err
}

// Doing says nothing: the phase of a run is in its view.
func (r Remote) Doing(context.Context, string) string { return "" }
