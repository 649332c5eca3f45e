package service

import (
	"encoding/json"
	"errors"
	"slices"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/queue"
	"sandboxrun/runner/state"
	"sandboxrun/runner/view"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func aService(t *testing.T) *Service {
	t.Helper()
	st, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{State: st, Config: config.Default()})
}

func (s *Service) put(t *testing.T, e queue.Entry) string {
	t.Helper()
	e.RunID, e.Task, e.Attempt = state.NewID(), json.RawMessage(`{}`), max(1, e.Attempt)
	run, _, err := s.queue().Enqueue(t.Context(), e, queue.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestRepositoriesTakeTurnsAndSessionsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	s := aService(t)
	a1, a2 := s.put(t, queue.Entry{RepoRoot: "/a"}), s.put(t, queue.Entry{RepoRoot: "/a", SessionID: "s"})
	later := s.put(t, queue.Entry{RepoRoot: "/a", SessionID: "s"})
	b1, b2 := s.put(t, queue.Entry{RepoRoot: "/b"}), s.put(t, queue.Entry{RepoRoot: "/b"})
	paused := s.put(t, queue.Entry{RepoRoot: "/c", NotBefore: time.Now().Add(time.Minute)})
	w, err := s.look()
	if err != nil {
		t.Fatal(err)
	}
	turns, order := map[string]time.Time{}, []string{}
	for n := 1; ; n++ {
		e, ok := w.next(turns)
		if !ok {
			break
		}
		turns[e.RepoRoot] = time.Unix(int64(n), 0)
		order = append(order, e.RunID)
	}
	if !slices.Equal(order, []string{a1, b1, a2, b2}) {
		t.Errorf("order %v; a %s %s %s, b %s %s, paused %s", order, a1, a2, later, b1, b2, paused)
	}
	if err := s.writeTurns(turns, nil); err != nil {
		t.Error(err)
	}
	if kept := s.readTurns(); len(kept) != 0 {
		t.Errorf("turns of long ago are kept: %v", kept)
	}
	v, err := s.Run(t.Context(), later)
	if err != nil || v.Queued == nil || v.Queued.WaitingFor != "an earlier task of its session" || v.Queued.Position != 3 {
		t.Errorf("%+v, %v", v, err)
	}
}

// A run that the machine failed before its agent began is repeated as often as the configuration says, and no other.
func TestMachineFailuresAreRepeated(t *testing.T) {
	t.Parallel()
	lost := []document.Issue{{Code: document.CodeEngineLost}}
	for name, c := range map[string]struct {
		attempt int
		res     document.Result
		want    bool
	}{
		"engine lost":    {1, document.Result{Status: document.StatusFailed, Issues: lost}, true},
		"once already":   {2, document.Result{Status: document.StatusFailed, Issues: lost}, false},
		"agent worked":   {1, document.Result{Status: document.StatusFailed, Issues: lost, Timing: map[string]int64{"agent": 1}}, false},
		"another reason": {1, document.Result{Status: document.StatusFailed, Issues: []document.Issue{{Code: document.CodeSetupFailed}}}, false},
		"success":        {1, document.Result{Status: document.StatusSuccess, Issues: lost}, false},
	} {
		s := aService(t)
		d, err := s.o.State.NewRun()
		if err := errors.Join(err, d.WriteWorker(state.Worker{Attempt: c.attempt})); err != nil {
			t.Fatal(err)
		}
		e := queue.Entry{RunID: d.ID(), TaskID: "t", Task: json.RawMessage(`{}`), Attempt: c.attempt}
		if err := s.repeat(t.Context(), e, &c.res); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		list, err := s.queue().List()
		if err != nil || (len(list) == 1) != c.want {
			t.Fatalf("%s: %d entries, %v", name, len(list), err)
		}
		if !c.want {
			continue
		}
		w, err := d.Worker()
		if err != nil || list[0].Attempt != c.attempt+1 || list[0].First != d.ID() || w.SupersededBy != list[0].RunID || time.Until(list[0].NotBefore) < 3*time.Second {
			t.Errorf("%s: %+v, worker %+v, %v", name, list[0], w, err)
		}
		if err := d.Unlock(); err != nil {
			t.Error(err)
		}
	}
}

// What passes by itself lets a task wait again; what does not is told in place of a result.
func TestOnlyWhatPassesLetsATaskWaitAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		why  error
		want view.State
	}{
		"no room":         {&document.BusyError{Reason: "full"}, view.Queued},
		"session busy":    {state.SessionBusy("s"), view.Queued},
		"stopped":         {document.Interrupted{Signal: syscall.SIGTERM}, view.Queued},
		"another state":   {&document.ConflictError{InputError: &document.InputError{Message: "uncommitted changes"}}, view.Refused},
		"no such branch":  {document.InputAt("/context/base", "is not there"), view.Refused},
		"a failure of us": {errors.New("broken"), view.Refused},
	} {
		s := aService(t)
		run := s.put(t, queue.Entry{TaskID: "t"})
		taken, err := s.queue().Take(run)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.putBack(t.Context(), taken, c.why); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if v, err := s.Run(t.Context(), run); err != nil || v.State != c.want {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
		out, err := s.queue().Get(run)
		if err != nil || (len(out.Refused) > 0) != (c.want == view.Refused) {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
}

func TestAWithdrawnTaskMayBeSentAgain(t *testing.T) {
	t.Parallel()
	s := aService(t)
	run := s.put(t, queue.Entry{TaskID: "t"})
	if err := s.Withdraw(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	var gone *Problem
	if _, err := s.Run(t.Context(), run); !errors.As(err, &gone) || gone.Code != CodeNotFound {
		t.Errorf("a withdrawn task: %v", err)
	}
	again := s.put(t, queue.Entry{TaskID: "t"})
	taken, err := s.queue().Take(again)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Withdraw(t.Context(), again); !errors.As(err, &gone) || gone.Code != CodeBegun {
		t.Errorf("a task that a worker has: %v", err)
	}
	if err := taken.Close(); err != nil {
		t.Error(err)
	}
}
