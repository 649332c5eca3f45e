package state

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func openState(t *testing.T) *State {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRunsThatSpendAtOneTimeAreCountedTogether(t *testing.T) {
	t.Parallel()
	s := openState(t)
	limit := &Spent{Requests: 30}
	var all sync.WaitGroup
	var mu sync.Mutex
	admitted := 0
	for range 4 {
		all.Go(func() {
			other, err := Open(s.Dir()) // as another process would
			if err != nil {
				t.Error(err)
				return
			}
			for range 10 {
				_, over, err := other.Spend(t.Context(), noon, Spent{1, 5}, limit)
				if err != nil {
					t.Error(err)
				}
				if !over {
					mu.Lock()
					admitted++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	sum, over, err := s.Spend(t.Context(), noon, Spent{Tokens: -10}, nil)
	if admitted != 30 || err != nil || over || sum != (Spent{30, 140}) {
		t.Errorf("%d admitted; %+v %t %v", admitted, sum, over, err)
	}
}

func TestADayBeginsAnew(t *testing.T) {
	t.Parallel()
	s, limit := openState(t), &Spent{Tokens: 10}
	for _, c := range []struct {
		name string
		now  time.Time
		over bool
		sum  Spent
	}{
		{"first", noon, false, Spent{1, 10}},
		{"used up", noon.Add(time.Hour), true, Spent{1, 10}},
		{"the clock was set back", noon.Add(-48 * time.Hour), true, Spent{1, 10}},
		{"midnight in UTC", time.Date(2026, 11, 23, 1, 0, 0, 0, time.FixedZone("", 7200)), true, Spent{1, 10}},
		{"next day", noon.Add(24 * time.Hour), false, Spent{1, 10}},
	} {
		sum, over, err := s.Spend(t.Context(), c.now, Spent{1, 10}, limit)
		if err != nil || over != c.over || sum != c.sum {
			t.Errorf("%s: %+v %t %v", c.name, sum, over, err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.Dir(), "spent.json"), []byte(`{"day":"9`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Spend(t.Context(), noon, Spent{1, 10}, limit); err == nil {
		t.Error("a damaged count was taken for none")
	}
}
