package all_test

import (
	"testing"

	"sandboxrun/agents"
	_ "sandboxrun/agents/all"
)

func TestEveryAgentIsRegisteredUnderItsContractNames(t *testing.T) {
	t.Parallel()
	for short, executor := range map[string]string{"claude": "CLAUDE_CODE"} {
		a, ok := agents.Lookup(short)
		b, okToo := agents.Lookup(executor)
		if !ok || !okToo || a != b {
			t.Errorf("%s and %s do not name one agent", short, executor)
		}
	}
}
