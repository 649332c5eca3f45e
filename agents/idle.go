package agents

import "time"

// DefaultIdle is how long an agent may say nothing at all, where a Turn does not
// say. Waiting for an approval does not count.
const DefaultIdle = 120 * time.Second

// idle is the idle limit of the turn.
func (t Turn) idle() time.Duration {
	if t.Idle > 0 {
		return time.Duration(t.Idle) * time.Second
	}
	return DefaultIdle
}
