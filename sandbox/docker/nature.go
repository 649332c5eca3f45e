package docker

import (
	"context"

	"sandboxrun/sandbox"
)

// nature is what Info says, asked once: some of it decides how boxes are made.
func (e *Engine) nature(ctx context.Context) (sandbox.Info, error) {
	e.mu.Lock()
	known := e.known
	e.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	info, err := e.Info(ctx)
	if err != nil {
		return sandbox.Info{}, err
	}
	e.mu.Lock()
	e.known = &info
	e.mu.Unlock()
	return info, nil
}

// bringsLoopbackUp reports whether the OCI runtime brings up the loopback
// interface of a new network namespace by itself. Then the engine's own network
// set-up, more than half of the time a start takes, can be left out altogether
// (Config.NetworkDisabled). gVisor's runsc does not: without the engine's set-up
// a box would have no interface at all.
func bringsLoopbackUp(runtime string) bool { return runtime == "runc" || runtime == "crun" }
