package opencode

import (
	"time"

	"sandboxrun/agents"
)

// WithWaits is the agent with d instead of the waits that end by the clock.
func WithWaits(d time.Duration) agents.Agent { return agent{bounds: bounds{call: d, begin: d}} }
