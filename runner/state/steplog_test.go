package state

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/gitdiff/land"
	"sandboxrun/internal/step"
	"sandboxrun/sandbox"
)

const (
	aCommit = "1234567890123456789012345678901234567890"
	aTree   = "abcdefabcdefabcdefabcdefabcdefabcdefabcd"
	aBranch = land.BranchPrefix + "t"
)

// passed writes a journal of steps and reads it back.
func passed(t *testing.T, d *RunDir, steps ...func(*StepLog)) stepRecord {
	t.Helper()
	l, err := d.OpenSteps()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		s(l)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := d.Steps()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func begun(n step.Name, about string) func(*StepLog) { return func(l *StepLog) { l.Watch(n, about) } }

func taken(n step.Name, about string, err error) func(*StepLog) {
	return func(l *StepLog) { l.Watch(n, about)(err) }
}

func TestRecordsTheLastStepOfALanding(t *testing.T) {
	t.Parallel()
	s := newState(t)
	about := aCommit + " " + aBranch
	cases := map[string]struct {
		steps []func(*StepLog)
		want  LandingRecord
	}{
		"none":     {nil, LandingRecord{}},
		"begun":    {[]func(*StepLog){begun(land.StepStage, about)}, LandingRecord{aCommit, aBranch, false}},
		"at ref":   {[]func(*StepLog){taken(land.StepStage, about, nil), begun(land.StepRef, about)}, LandingRecord{aCommit, aBranch, false}},
		"refused":  {[]func(*StepLog){taken(land.StepRef, about, errors.New("no"))}, LandingRecord{aCommit, aBranch, false}},
		"done":     {[]func(*StepLog){taken(land.StepRef, about, nil)}, LandingRecord{aCommit, aBranch, true}},
		"nonsense": {[]func(*StepLog){taken(land.StepRef, "../../x refs/heads/main", nil)}, LandingRecord{}},
	}
	for name, c := range cases {
		got := passed(t, newRun(t, s), c.steps...)
		if d := cmp.Diff(c.want, got.Landing, cmp.AllowUnexported(LandingRecord{})); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}

func TestFactsAndOpenRequestsSurviveATornLine(t *testing.T) {
	t.Parallel()
	d := newRun(t, newState(t))
	passed(t, d, func(l *StepLog) { l.Fact(FactBase, aCommit, aTree, "2026-05-04T11:00:00Z") })
	f, err := os.OpenFile(d.stepsPath(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"mono":1,"step":"box/cre`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	got := passed(t, d, func(l *StepLog) { l.Fact(factTree, aTree) }, taken(sandbox.StepVolume, "vol", nil), begun(sandbox.StepCreate, "box"))
	if got.Base.ID != aCommit || got.Base.Tree != aTree || got.Base.Time.Year() != 2026 || got.Tree != aTree {
		t.Errorf("%+v", got)
	}
	if _, asked := got.asked["box"]; !asked || len(got.asked) != 1 {
		t.Errorf("pending requests %v, want only the box's", got.asked)
	}
	if wait := Pending([]*RunDir{d}, nil); wait <= 0 || wait > answerPatience {
		t.Errorf("waits %s for the engine", wait)
	}
	if wait := Pending([]*RunDir{d}, []string{"box"}); wait > 0 {
		t.Errorf("waits %s for removed objects", wait)
	}
}

func TestRequestsOfAnEarlierBootAreNotAwaited(t *testing.T) {
	t.Parallel()
	d := newRun(t, newState(t))
	passed(t, d, begun(sandbox.StepCreate, "box"))
	body, err := os.ReadFile(d.stepsPath())
	if err != nil {
		t.Fatal(err)
	}
	other := strings.ReplaceAll(string(body), bootID(), "another")
	if err := os.WriteFile(d.stepsPath(), []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	if wait := Pending([]*RunDir{d}, nil); wait > 0 {
		t.Errorf("waits %s", wait)
	}
}

// A run whose directory is just being made is marked already; its marker must stay.
func TestMarkerOfARunBeingMadeStays(t *testing.T) {
	t.Parallel()
	s := newState(t)
	const id = "01j00000000000000000000000"
	creation, err := s.creationLock(false)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.marker(id), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 0} {
		if want == 0 {
			if err := creation.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.crashed(func(*RunDir) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if ids, err := s.Active(); err != nil || len(ids) != want {
			t.Errorf("marked: %v, %v, want %d", ids, err, want)
		}
	}
}

func BenchmarkStep(b *testing.B) {
	s, err := Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	d, err := s.NewRun()
	if err != nil {
		b.Fatal(err)
	}
	l, err := d.OpenSteps()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("written", func(b *testing.B) {
		for b.Loop() {
			l.Watch(sandbox.StepStart, "box")(nil)
		}
	})
	b.Run("synced", func(b *testing.B) {
		for b.Loop() {
			l.Watch(land.StepRef, aCommit+" "+aBranch)(nil)
		}
	})
	if err := errors.Join(l.Close(), d.Discard()); err != nil {
		b.Fatal(err)
	}
}
