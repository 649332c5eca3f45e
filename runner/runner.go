// Package runner turns a task into a plan, and a plan into a result. A run is a
// fixed list of phases over throwaway boxes; what happened is written to a
// journal first and folded into the one result document at the end.
package runner

import (
	"sandboxrun/gitdiff/workspace"
	"sandboxrun/runner/approval"
	"sandboxrun/runner/config"
	"sandboxrun/runner/reader"
	"sandboxrun/runner/state"
	"sandboxrun/sandbox"
)

// Options are what a Runner is made from.
type Options struct {
	State  *state.State
	Config config.Config
	Engine sandbox.Engine
	// GuestBinary is the host path of the static program that becomes the main
	// process of every box (this program itself). Every run keeps the file under
	// another name of its own while it lives.
	GuestBinary string
	// Reader is this program as well: a process of it reads what a box left.
	Reader reader.Program
	// CABundle is the host path of the authorities boxes shall trust, "" for
	// those of their image.
	CABundle string
	// Getenv reads the host's environment, for keys.
	Getenv func(string) string
	// Layout forces how trees reach boxes; "" for the best the engine can do.
	Layout workspace.Layout
	// Asker shows requests of agents to a person, nil where nobody is there.
	Asker approval.Asker
	// Waiting is called with the reason why a run waits for others before it
	// begins; may be nil.
	Waiting func(message string)
	// AgentLabel and the name of an agent form the label of an image that holds
	// its program; "" when images have no such labels.
	AgentLabel string
	// Version of this program, for the journal.
	Version string
}

// Runner executes plans. It is safe for concurrent use; every run has its own
// boxes, trees and journal.
type Runner struct{ o Options }

// New makes a Runner.
func New(o Options) *Runner { return &Runner{o: o} }
