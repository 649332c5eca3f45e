package opencode

import (
	"time"

	"sandboxrun/agents"
)

// WithWaits is an agent of this package with d instead of the waits that end by
// the clock.
func WithWaits(a agents.Agent, d time.Duration) agents.Agent {
	return agent{program: a.(agent).program, bounds: bounds{call: d, begin: d, retry: d}}
}
