package session

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
	"sandboxrun/runner/state"
)

func line(n int) state.Session {
	doc := state.Session{ID: "s"}
	for _, id := range []string{"01ja", "01jb", "01kc"}[:n] {
		doc.Runs = append(doc.Runs, state.SessionRun{RunID: id, Begin: state.SessionTree{Commit: "begin " + id}, End: state.SessionTree{Commit: "end " + id},
			Conversation: &state.Conversation{RunID: id}})
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
		s := &Turn{doc: line(3)}
		err := s.place(&plan.Plan{Session: "s", Retry: tt.retry})
		if tt.refused {
			var bad *document.InputError
			if !errors.As(err, &bad) || bad.Details[0].Path != "/retry_process_id" {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		talk := ""
		if s.conversation != nil {
			talk = s.conversation.RunID
		}
		if err != nil || len(s.earlier) != tt.follows || s.begin.Commit != tt.begin || talk != tt.talk || s.Root().ID != "begin 01ja" {
			t.Errorf("%s: %v, follows %d, begins at %q with %q", tt.name, err, len(s.earlier), s.begin.Commit, talk)
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
		doc  state.Session
		plan plan.Plan
		want []string
	}{
		{"its own", state.Session{RepoRoot: repo.Root(), Agent: "claude", Base: "main"}, plan.Plan{Base: "HEAD", Agent: &plan.Agent{Name: "claude", Model: "m", Variant: "V"}}, nil},
		{"its base", state.Session{RepoRoot: repo.Root(), Agent: "claude", Base: "main"}, plan.Plan{Base: "main", Agent: &plan.Agent{Name: "claude"}}, nil},
		{"nothing of its own", state.Session{RepoRoot: "/other", Agent: "codex", Base: "main"}, plan.Plan{Base: "dev", IncludeDirty: true, Agent: &plan.Agent{Name: "claude"}},
			[]string{"/context/repo_root", "/agent", "/context/base", "/context/include_dirty"}},
		{"full", state.Session{RepoRoot: repo.Root(), Agent: "claude", Runs: make([]state.SessionRun, state.MaxSessionRuns)}, plan.Plan{Base: "HEAD", Agent: &plan.Agent{Name: "claude"}},
			[]string{"/session_id"}},
		{"full, going back", state.Session{RepoRoot: repo.Root(), Agent: "claude", Runs: make([]state.SessionRun, state.MaxSessionRuns)},
			plan.Plan{Base: "HEAD", Retry: "x", Agent: &plan.Agent{Name: "claude"}}, nil},
	}
	for _, tt := range tests {
		err := (&Turn{doc: tt.doc}).bound(&tt.plan, repo)
		var got []string
		if bad := (*document.InputError)(nil); errors.As(err, &bad) {
			for _, d := range bad.Details {
				got = append(got, d.Path)
			}
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, d)
		}
	}
}
