package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sandboxrun/runner/document"

	"github.com/google/go-cmp/cmp"
)

// newSession makes a session with n runs and releases it.
func newSession(t *testing.T, s *State, id string, n int) Session {
	t.Helper()
	d := mustTake(t, id, s.MakeSession)
	doc := Session{SchemaVersion: SessionVersion, ID: id, Agent: "claude", RepoRoot: "/repo", Base: "HEAD", Runs: []SessionRun{}}
	for i := range n {
		run := fmt.Sprintf("run%d", i)
		if err := os.WriteFile(d.ConversationPath(run), []byte("talk"), 0o600); err != nil {
			t.Fatal(err)
		}
		doc.Runs = append(doc.Runs, SessionRun{RunID: run, Status: document.StatusSuccess, Kept: true,
			Conversation: &Conversation{SessionID: "c", RunID: run, Paths: []string{".claude"}, Bytes: 4}})
	}
	doc.UpdatedAt = time.Now().UTC()
	if err := d.Write(doc); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return doc
}

func conversations(t *testing.T, s *State, id string) []string {
	t.Helper()
	entries, err := os.ReadDir(s.sessionHome(id))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestSessionsArePrivateAndSurviveTheDisk(t *testing.T) {
	t.Parallel()
	s := newState(t)
	want := newSession(t, s, "talk", 2)
	got, err := s.Session("talk")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(SessionView{Session: want}, got); d != "" {
		t.Errorf("session (-want +got):\n%s", d)
	}
	for _, dir := range []string{s.sessionsDir(), s.sessionDir("talk"), s.sessionHome("talk")} {
		if fi, err := os.Stat(dir); err != nil || fi.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, fi.Mode(), err)
		}
	}
	if fi, err := os.Stat(s.sessionFile("talk")); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("session.json: %v, %v", fi.Mode(), err)
	}
}

func TestSessionHasOneHolder(t *testing.T) {
	t.Parallel()
	s := newState(t)
	newSession(t, s, "talk", 1)
	held := mustTake(t, "talk", s.TakeSession)
	var busy *document.ConflictError
	var input *document.InputError
	_, err := s.TakeSession(t.Context(), "talk")
	if !errors.As(err, &busy) || !errors.As(err, &input) || input.Message != "session is busy" {
		t.Errorf("second taker: %v", err)
	}
	if _, err := s.MakeSession(t.Context(), "talk"); !errors.As(err, &busy) {
		t.Errorf("second maker: %v", err)
	}
	if err := s.RemoveSession(t.Context(), "talk"); !errors.As(err, &busy) {
		t.Errorf("remover: %v", err)
	}
	if list, err := s.Sessions(); err != nil || len(list) != 1 || list[0].Status != RunRunning {
		t.Errorf("list %+v, %v", list, err)
	}
	if doc, kind := document.EncodeError(busy); kind != document.ErrorInvalidInput || !strings.Contains(string(doc), "/session_id") || document.ErrorExitCode(busy) != document.ExitInput {
		t.Errorf("encoded as %s %s", kind, doc)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	again := mustTake(t, "talk", s.TakeSession)
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// Readers hold the lock for a moment; a run must not take them for another run.
func TestReadingASessionDoesNotMakeItBusy(t *testing.T) {
	t.Parallel()
	s := newState(t)
	newSession(t, s, "talk", 1)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := s.Sessions(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 50 {
		d := mustTake(t, "talk", s.TakeSession)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
}

func TestRemovesSession(t *testing.T) {
	t.Parallel()
	s := newState(t)
	newSession(t, s, "talk", 1)
	if err := s.RemoveSession(t.Context(), "talk"); err != nil {
		t.Fatal(err)
	}
	var input *document.InputError
	for _, id := range []string{"talk", "../runs", "", ".gone-talk"} {
		if _, err := s.Session(id); !errors.As(err, &input) {
			t.Errorf("Session(%q): %v", id, err)
		}
		if err := s.RemoveSession(t.Context(), id); !errors.As(err, &input) {
			t.Errorf("RemoveSession(%q): %v", id, err)
		}
	}
	if _, err := s.TakeSession(t.Context(), "talk"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("take: %v", err)
	}
	if entries, err := os.ReadDir(s.sessionsDir()); err != nil || len(entries) != 0 {
		t.Errorf("left %v, %v", entries, err)
	}
}

func TestRemovesUnnamedConversations(t *testing.T) {
	t.Parallel()
	s := newState(t)
	doc := newSession(t, s, "talk", 3)
	d := mustTake(t, "talk", s.TakeSession)
	doc.Runs = doc.Runs[:1] // as a retry of the second run does
	doc.Runs = append(doc.Runs, SessionRun{RunID: "late", Conversation: doc.Runs[0].Conversation})
	if err := errors.Join(d.Write(doc), d.Close()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"run0.tar"}, conversations(t, s, "talk")); diff != "" {
		t.Errorf("kept:\n%s", diff)
	}
}

func TestRemovesOldestConversationsFirst(t *testing.T) {
	t.Parallel()
	s := newState(t)
	doc := newSession(t, s, "talk", 3)
	d := mustTake(t, "talk", s.TakeSession)
	for i := range doc.Runs {
		doc.Runs[i].Conversation.Bytes = maxConversations / 2
	}
	if err := errors.Join(d.Write(doc), d.Close()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"run1.tar", "run2.tar"}, conversations(t, s, "talk")); diff != "" {
		t.Errorf("kept:\n%s", diff)
	}
}

func TestReapSweepsOnlySessionsOfDeadRuns(t *testing.T) {
	t.Parallel()
	s := newState(t)
	newSession(t, s, "dead", 1)
	newSession(t, s, "live", 1)
	newSession(t, s, "empty", 0)
	litter := []string{filepath.Join(s.sessionHome("dead"), "x.tar"), filepath.Join(s.sessionDir("dead"), ".session.json123"),
		filepath.Join(s.sessionHome("live"), "x.tar")}
	for _, path := range litter {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	live, half := mustTake(t, "live", s.TakeSession), mustTake(t, "half", s.MakeSession)
	if err := half.Close(); err != nil { // died before it wrote its session
		t.Fatal(err)
	}
	if err := s.SweepSessions(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := live.Close(); err != nil {
		t.Fatal(err)
	}
	for i, path := range litter {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) != (i < 2) {
			t.Errorf("%s: %v", path, err)
		}
	}
	ids, err := s.sessionIDs()
	if diff := cmp.Diff([]string{"dead", "live"}, ids); diff != "" || err != nil {
		t.Errorf("sessions: %v\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{"run0.tar"}, conversations(t, s, "dead")); diff != "" {
		t.Errorf("kept:\n%s", diff)
	}
}

func TestListsSessionsNextToADamagedOne(t *testing.T) {
	t.Parallel()
	s := newState(t)
	newSession(t, s, "good", 1)
	newSession(t, s, "bad", 1)
	newSession(t, s, "newer", 1)
	for id, text := range map[string]string{"bad": "{", "newer": `{"schema_version":"9","id":"newer"}`} {
		if err := os.WriteFile(s.sessionFile(id), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.Sessions()
	if err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, i := range list {
		if want := map[bool]string{true: "success", false: SessionDamaged}[i.ID == "good"]; i.Status != want {
			t.Errorf("%s is %s", i.ID, i.Status)
		}
	}
	if err := s.SweepSessions(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.RemoveSession(t.Context(), "bad"); err != nil {
		t.Errorf("remove: %v", err)
	}
}

func mustTake(t *testing.T, id string, take func(context.Context, string) (*SessionDir, error)) *SessionDir {
	t.Helper()
	d, err := take(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// FuzzSession reads a session file of any content: the session is listed or reported as damaged, and sweeping it
// touches no other session's files.
func FuzzSession(f *testing.F) {
	for _, s := range []string{
		"", "{", `{"schema_version":"1.0","id":"s"}`, `{"schema_version":"1.0","id":"../s"}`,
		`{"schema_version":"1.0","id":"s","runs":[{"run_id":"r","conversation":{"run_id":"../../canary","paths":["/"],"bytes":-9}}]}`,
		`{"schema_version":"1.0","id":"s","runs":[{"conversation":{"run_id":"kept","bytes":9223372036854775807}},{"conversation":{"run_id":"b","bytes":1}}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		st, err := Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		canaries := []string{filepath.Join(st.Dir(), "canary.tar"), filepath.Join(st.sessionsDir(), "canary.tar"), filepath.Join(st.sessionHome("other"), "kept.tar")}
		for _, path := range append(canaries, filepath.Join(st.sessionHome("s"), "kept.tar"), st.sessionLock("s"), st.sessionFile("s")) {
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, doc, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		list, err := st.Sessions()
		if err != nil || len(list) != 1 || list[0].ID != "s" {
			t.Errorf("listed %+v, %v", list, err)
		}
		if _, err := st.Session("s"); err == nil && list[0].Status == SessionDamaged {
			t.Error("listed as damaged, but readable")
		}
		if err := st.SweepSessions(t.Context()); err != nil {
			t.Logf("sweep: %v", err)
		}
		for _, path := range canaries[:2] {
			if _, err := os.Stat(path); err != nil {
				t.Errorf("removed: %v", err)
			}
		}
	})
}
