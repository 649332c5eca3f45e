package mcp

import (
	"context"

	"sandboxrun/runner/catalog"
	"sandboxrun/runner/service"
	"sandboxrun/runner/view"
)

// Runs is what the tools need of runs: those of a state directory ([Local]), or those of a server ([Remote]). Errors are
// those of package document, or *service.Problem.
type Runs interface {
	// Submit accepts a task that needs neither caller nor connection any more.
	Submit(ctx context.Context, task []byte) (view.RunView, error)
	// FollowUp accepts the next task of a session.
	FollowUp(ctx context.Context, session string, f service.FollowUp) (view.RunView, error)
	Run(ctx context.Context, id string) (view.RunView, error)
	// Wait returns the stored result of a run, or of the run that repeats it.
	Wait(ctx context.Context, id string) ([]byte, error)
	Cancel(ctx context.Context, id, reason string) (view.RunView, error)
	// Diff opens the patch of an ended run.
	Diff(ctx context.Context, id string) (Patch, error)
	Agents(ctx context.Context) ([]catalog.Agent, error)
	// Doing says in a few words what a run does now; "" where that is not known.
	Doing(ctx context.Context, id string) string
}

// by is what runs and cancels of these callers name.
const by = "mcp"
