package document

import (
	"testing"

	"go.uber.org/goleak"

	_ "sandboxrun/agents/all" // as the program has them
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
