package runner

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/gitdiff"
	"sandboxrun/runner/step"
	"sandboxrun/sandbox"
)

const (
	aCommit = "1234567890123456789012345678901234567890"
	aTree   = "abcdefabcdefabcdefabcdefabcdefabcdefabcd"
	aBranch = gitdiff.BranchPrefix + "t"
)

// passed writes a journal of steps and reads it back.
func passed(t *testing.T, d *RunDir, steps ...func(*stepLog)) stepRecord {
	t.Helper()
	l, err := d.openSteps()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		s(l)
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	r, err := d.steps()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func begun(n step.Name, about string) func(*stepLog) { return func(l *stepLog) { l.watch(n, about) } }

func taken(n step.Name, about string, err error) func(*stepLog) {
	return func(l *stepLog) { l.watch(n, about)(err) }
}

func TestALandingIsKnownAsFarAsItCame(t *testing.T) {
	t.Parallel()
	s := newState(t)
	about := aCommit + " " + aBranch
	cases := map[string]struct {
		steps []func(*stepLog)
		want  landingRecord
	}{
		"none":     {nil, landingRecord{}},
		"begun":    {[]func(*stepLog){begun(gitdiff.StepStage, about)}, landingRecord{aCommit, aBranch, false}},
		"at ref":   {[]func(*stepLog){taken(gitdiff.StepStage, about, nil), begun(gitdiff.StepRef, about)}, landingRecord{aCommit, aBranch, false}},
		"refused":  {[]func(*stepLog){taken(gitdiff.StepRef, about, errors.New("no"))}, landingRecord{aCommit, aBranch, false}},
		"done":     {[]func(*stepLog){taken(gitdiff.StepRef, about, nil)}, landingRecord{aCommit, aBranch, true}},
		"nonsense": {[]func(*stepLog){taken(gitdiff.StepRef, "../../x refs/heads/main", nil)}, landingRecord{}},
	}
	for name, c := range cases {
		got := passed(t, newRun(t, s), c.steps...)
		if d := cmp.Diff(c.want, got.landing, cmp.AllowUnexported(landingRecord{})); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}

func TestFactsAndOpenRequestsSurviveATornLine(t *testing.T) {
	t.Parallel()
	d := newRun(t, newState(t))
	passed(t, d, func(l *stepLog) { l.fact(factBase, aCommit, aTree, "2026-05-04T11:00:00Z") })
	f, err := os.OpenFile(d.stepsPath(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"mono":1,"step":"box/cre`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	got := passed(t, d, func(l *stepLog) { l.fact(factTree, aTree) }, taken(sandbox.StepVolume, "vol", nil), begun(sandbox.StepCreate, "box"))
	if got.base.ID != aCommit || got.base.Tree != aTree || got.base.Time.Year() != 2026 || got.tree != aTree {
		t.Errorf("%+v", got)
	}
	if _, asked := got.asked["box"]; !asked || len(got.asked) != 1 {
		t.Errorf("asked for %v, want the box alone", got.asked)
	}
	if wait := pending([]*RunDir{d}, nil); wait <= 0 || wait > answerPatience {
		t.Errorf("waits %s for the engine", wait)
	}
	if wait := pending([]*RunDir{d}, []string{"box"}); wait > 0 {
		t.Errorf("waits %s for what was removed", wait)
	}
}

func TestNobodyWaitsForWhatAnotherLifeOfTheMachineAskedFor(t *testing.T) {
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
	if wait := pending([]*RunDir{d}, nil); wait > 0 {
		t.Errorf("waits %s", wait)
	}
}

func TestARunWithoutAPlanIsForgottenAndOneThatLostItIsNot(t *testing.T) {
	t.Parallel()
	s := newState(t)
	never, lost := newRun(t, s), newRun(t, s)
	passed(t, never)
	passed(t, lost, func(l *stepLog) { l.fact(factBase, aCommit, aTree, "2026-05-04T11:00:00Z") })
	crash(t, never)
	crash(t, lost)
	if done, err := New(Options{State: s}).settleRuns(t.Context()); err == nil || len(done) > 0 {
		t.Errorf("settled %v, %v; a plan is missing", done, err)
	}
	ids, err := s.active()
	if err != nil || len(ids) != 1 || ids[0] != lost.ID() {
		t.Errorf("still to be settled: %v, %v", ids, err)
	}
}

// A run that is just about to get its directory is marked already; nobody may
// take the mark away.
func TestAMarkOfARunBeingMadeStays(t *testing.T) {
	t.Parallel()
	s := newState(t)
	const id = "01j00000000000000000000000"
	birth, err := s.births(false)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.marker(id), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 0} {
		if want == 0 {
			if err := birth.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Crashed(func(*RunDir) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if ids, err := s.active(); err != nil || len(ids) != want {
			t.Errorf("marked: %v, %v, want %d", ids, err, want)
		}
	}
}

func BenchmarkStep(b *testing.B) {
	s, err := OpenState(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	d, err := s.NewRun()
	if err != nil {
		b.Fatal(err)
	}
	l, err := d.openSteps()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("written", func(b *testing.B) {
		for b.Loop() {
			l.watch(sandbox.StepStart, "box")(nil)
		}
	})
	b.Run("synced", func(b *testing.B) {
		for b.Loop() {
			l.watch(gitdiff.StepRef, aCommit+" "+aBranch)(nil)
		}
	})
	if err := errors.Join(l.close(), d.Discard()); err != nil {
		b.Fatal(err)
	}
}
