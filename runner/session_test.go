package runner

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitdifftest"
)

func mustTake(t *testing.T, id string, take func(context.Context, string) (*SessionDir, error)) *SessionDir {
	t.Helper()
	d, err := take(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestAPlanKnowsItsSession(t *testing.T) {
	t.Parallel()
	base := `{"objective": "x", "instructions": "y", "context": {"repo_root": "/repo"}`
	tests := []struct {
		name, task string
		flags      Overrides
		session    string
		pointer    string // of the refusal
	}{
		{"none", "", Overrides{}, "", ""},
		{"task", `, "session_id": "a"`, Overrides{}, "a", ""},
		{"flag over task", `, "session_id": "a"`, Overrides{Session: "b", Retry: "01J"}, "b", ""},
		{"retry without a session", `, "retry_process_id": "01j"`, Overrides{}, "", "/retry_process_id"},
		{"no agent", `, "session_id": "a", "execution_mode": "command", "suggested_commands": ["true"]`, Overrides{}, "", "/session_id"},
		{"bad flag", "", Overrides{Session: "a/b"}, "", ""},
		{"bad retry", "", Overrides{Session: "a", Retry: "../x"}, "", ""},
	}
	for _, tt := range tests {
		task, err := Decode([]byte(base + tt.task + "}"))
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		plan, err := Compile(task, DefaultConfig(), tt.flags)
		var bad *InputError
		switch refused := tt.pointer != "" || tt.name[:3] == "bad"; {
		case refused && (!errors.As(err, &bad) || bad.Details[0].Path != tt.pointer):
			t.Errorf("%s: %v", tt.name, err)
		case !refused && err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case !refused && plan.Session != tt.session:
			t.Errorf("%s: session %q", tt.name, plan.Session)
		}
		if err != nil {
			continue
		}
		saves := 0
		for _, ph := range plan.Phases {
			if ph.Name == phaseSave {
				saves++
			}
		}
		if (saves == 1) != (tt.session != "") {
			t.Errorf("%s: phases %+v", tt.name, plan.Phases)
		}
	}
}

func line(n int) Session {
	doc := Session{ID: "s"}
	for _, id := range []string{"01ja", "01jb", "01kc"}[:n] {
		doc.Runs = append(doc.Runs, SessionRun{RunID: id, Begin: SessionTree{Commit: "begin " + id}, End: SessionTree{Commit: "end " + id},
			Conversation: &Conversation{RunID: id}})
	}
	return doc
}

func TestARunTakesItsPlaceInTheLine(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, retry string
		follows     int
		begin, talk string
		refused     bool
	}{
		{name: "after the last", follows: 3, begin: "end 01kc", talk: "01kc"},
		{name: "in place of the last", retry: "01kc", follows: 2, begin: "begin 01kc", talk: "01jb"},
		{name: "in place of one, by its beginning", retry: "01JB", follows: 1, begin: "begin 01jb", talk: "01ja"},
		{name: "in place of the first", retry: "01ja", begin: "begin 01ja"},
		{name: "of several", retry: "01j", refused: true},
		{name: "of none", retry: "01z", refused: true},
	}
	for _, tt := range tests {
		s := &sessionTurn{doc: line(3)}
		err := s.place(&Plan{Session: "s", Retry: tt.retry})
		if tt.refused {
			var bad *InputError
			if !errors.As(err, &bad) || bad.Details[0].Path != "/retry_process_id" {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		talk := ""
		if s.talk != nil {
			talk = s.talk.RunID
		}
		if err != nil || len(s.line) != tt.follows || s.begin.Commit != tt.begin || talk != tt.talk || s.root().Commit != "begin 01ja" {
			t.Errorf("%s: %v, follows %d, begins at %q with %q", tt.name, err, len(s.line), s.begin.Commit, talk)
		}
	}
}

func TestASessionRefusesWhatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	repo, err := gitdiff.Open(gitdifftest.Sample(t).Dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := repo.Close(); err != nil {
			t.Error(err)
		}
	})
	tests := []struct {
		name string
		doc  Session
		plan Plan
		want []string
	}{
		{"its own", Session{RepoRoot: repo.Root(), Agent: "claude", Base: "main"}, Plan{Base: "HEAD", Agent: &AgentPlan{Name: "claude", Model: "m", Variant: "V"}}, nil},
		{"its base", Session{RepoRoot: repo.Root(), Agent: "claude", Base: "main"}, Plan{Base: "main", Agent: &AgentPlan{Name: "claude"}}, nil},
		{"nothing of its own", Session{RepoRoot: "/other", Agent: "codex", Base: "main"}, Plan{Base: "dev", IncludeDirty: true, Agent: &AgentPlan{Name: "claude"}},
			[]string{"/context/repo_root", "/agent", "/context/base", "/context/include_dirty"}},
		{"full", Session{RepoRoot: repo.Root(), Agent: "claude", Runs: make([]SessionRun, maxSessionRuns)}, Plan{Base: "HEAD", Agent: &AgentPlan{Name: "claude"}},
			[]string{"/session_id"}},
		{"full, going back", Session{RepoRoot: repo.Root(), Agent: "claude", Runs: make([]SessionRun, maxSessionRuns)},
			Plan{Base: "HEAD", Retry: "x", Agent: &AgentPlan{Name: "claude"}}, nil},
	}
	for _, tt := range tests {
		err := (&sessionTurn{doc: tt.doc}).bound(&tt.plan, repo)
		var got []string
		if bad := (*InputError)(nil); errors.As(err, &bad) {
			for _, d := range bad.Details {
				got = append(got, d.Path)
			}
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, d)
		}
	}
}

func TestALimitedWriterFailsAtItsLimit(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := &limitedWriter{to: &out, left: 5}
	if n, err := w.Write([]byte("abc")); n != 3 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := w.Write([]byte("def")); !errors.Is(err, errFull) || !w.full || out.String() != "abc" {
		t.Errorf("%v, %q", err, out.String())
	}
	var cut bytes.Buffer
	c := &cutWriter{to: &cut, left: 5}
	for range 3 {
		if n, err := c.Write([]byte("abc")); n != 3 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if cut.String() != "abcab" {
		t.Errorf("cut to %q", cut.String())
	}
}
