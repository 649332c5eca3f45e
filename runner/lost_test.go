package runner

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"sandboxrun/gitdiff"
	"sandboxrun/runner/state"
)

func TestARunWithoutAPlanIsForgottenAndOneThatLostItIsNot(t *testing.T) {
	t.Parallel()
	s, err := state.Open(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	dead := func(begun bool) *state.RunDir {
		d, err := s.NewRun()
		if err != nil {
			t.Fatal(err)
		}
		steps, err := d.OpenSteps()
		if err != nil {
			t.Fatal(err)
		}
		if begun {
			steps.WriteBase(gitdiff.Commit{ID: "0123456789012345678901234567890123456789", Tree: "1234567890123456789012345678901234567890", Time: time.Now()})
		}
		if err := errors.Join(steps.Close(), d.Unlock()); err != nil { // as the kernel does when a runner dies
			t.Fatal(err)
		}
		return d
	}
	dead(false)
	lost := dead(true)
	if done, err := New(Options{State: s}).settleRuns(t.Context()); err == nil || len(done) > 0 {
		t.Errorf("settled %v, %v; a plan is missing", done, err)
	}
	ids, err := s.Active()
	if err != nil || len(ids) != 1 || ids[0] != lost.ID() {
		t.Errorf("still to be settled: %v, %v", ids, err)
	}
}
