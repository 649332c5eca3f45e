package state

import (
	"errors"
	"testing"

	"go.uber.org/goleak"

	_ "sandboxrun/agents/all" // as the program has them
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// crashed calls settle with every run whose runner died, locked against other settlers. settle ends the run with
// Finish; a run it does not end remains crashed. An error of settle stops the iteration.
func (s *State) crashed(settle func(*RunDir) error) error {
	dead, err := s.TakeDead()
	for _, d := range dead {
		if err == nil {
			err = settle(d)
		}
	}
	return errors.Join(err, UnlockAll(dead), s.Sweep(), s.SweepFiles())
}
