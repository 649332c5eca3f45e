package conformance

import (
	"testing"

	"go.uber.org/goleak"

	_ "sandboxrun/agents/all" // the agents under test
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
