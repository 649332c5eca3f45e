package state

import (
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TakeSlot(t *testing.T, s *State, q Quota, memory int64) (*Slot, string) {
	t.Helper()
	held, full, err := s.TakeSlot(t.Context(), q, memory)
	if err != nil {
		t.Fatal(err)
	}
	if held != nil {
		t.Cleanup(func() { _ = held.Release() })
	}
	return held, full
}

func TestSlotsLimitTheNumberOfRuns(t *testing.T) {
	t.Parallel()
	s, q := newState(t), Quota{Runs: 2, Memory: 100}
	first, _ := TakeSlot(t, s, q, 1)
	if second, full := TakeSlot(t, s, q, 1); second == nil {
		t.Fatalf("the second of two is refused: %s", full)
	}
	third, full := TakeSlot(t, s, q, 1)
	if third != nil || !strings.Contains(full, "2 of 2 runs") {
		t.Fatalf("the third of two is admitted: %q", full)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if third, full = TakeSlot(t, s, q, 1); third == nil {
		t.Errorf("a released slot is not given again: %s", full)
	}
}

func TestSlotsLimitTheMemoryOfAllRuns(t *testing.T) {
	t.Parallel()
	s, q := newState(t), Quota{Runs: 10, Memory: 100}
	alone, full := TakeSlot(t, s, q, 500)
	if alone == nil {
		t.Fatalf("a single run is refused: %s", full)
	}
	if err := alone.Release(); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		memory int64
		in     bool
	}{{60, true}, {50, false}, {40, true}, {1, false}} {
		held, full := TakeSlot(t, s, q, step.memory)
		if (held != nil) != step.in {
			t.Errorf("%d bytes: in %v, want %v (%s)", step.memory, held != nil, step.in, full)
		}
	}
}

func TestSlotsLimitConcurrentRuns(t *testing.T) {
	t.Parallel()
	s, q := newState(t), Quota{Runs: 3, Memory: 1 << 40}
	var inside, most, served atomic.Int64
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			for {
				held, _, err := s.TakeSlot(t.Context(), q, 1)
				if err != nil {
					t.Error(err)
					return
				}
				if held == nil {
					continue
				}
				now := inside.Add(1)
				for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
				}
				served.Add(1)
				inside.Add(-1)
				if err := held.Release(); err != nil {
					t.Error(err)
				}
				return
			}
		})
	}
	wg.Wait()
	if served.Load() != 12 || most.Load() > 3 {
		t.Errorf("%d served, up to %d at once", served.Load(), most.Load())
	}
}

func TestHeldDamagedSlotIsAnError(t *testing.T) {
	t.Parallel()
	s, q := newState(t), Quota{Runs: 3, Memory: 100}
	held, _ := TakeSlot(t, s, q, 1)
	if err := os.WriteFile(s.slotPath(0), []byte("much"), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, full, err := s.TakeSlot(t.Context(), q, 1); err == nil {
		t.Errorf("took %v next to an unreadable slot (%s)", again, full)
	}
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	if again, full := TakeSlot(t, s, q, 1); again == nil {
		t.Errorf("a free slot is refused: %s", full)
	}
}
