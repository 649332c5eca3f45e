package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/runner/document"
	"sandboxrun/runner/state"
)

// shell is a step of the model that runs one command.
func shell(command string) modelserver.Step {
	return modelserver.Step{Tools: []modelserver.ToolUse{modelserver.Tool("Bash", map[string]any{"command": command, "description": "work"})}}
}

func say(text string) modelserver.Step { return modelserver.Step{Text: text} }

func sessionTask(r *repo, session, instructions string) map[string]any {
	task := map[string]any{
		"objective": "Talk.", "context": map[string]any{"repo_root": r.dir}, "instructions": instructions, "max_runtime_seconds": 150,
		// A turn that only talks is no success unless something is measured.
		"acceptance_criteria": []any{map[string]any{"command": "true"}},
	}
	if session != "" {
		task["session_id"] = session
	}
	return task
}

// good runs a task that must succeed.
func (r *rig) good(task map[string]any, flags ...string) document.Result {
	r.t.Helper()
	res, o := r.execute(task, flags...)
	if o.exit != 0 || res.Status != document.StatusSuccess {
		r.t.Fatalf("exit %d, %s, issues %+v\n%.3000s", o.exit, res.Status, res.Issues, o.stderr)
	}
	return res
}

// session reads a session through the program; ok is false where there is none.
func (r *rig) session(id string) (view state.SessionView, ok bool) {
	r.t.Helper()
	o := r.run(nil, "sessions", "show", "--json", id)
	if o.exit != 0 {
		return view, false
	}
	if err := json.Unmarshal(o.stdout, &view); err != nil {
		r.t.Fatalf("sessions show: %v: %s", err, o.stdout)
	}
	return view, true
}

// assertScriptKept checks that the model was asked as the script expects.
func assertScriptKept(t *testing.T, srv *modelserver.Server) {
	t.Helper()
	if f := srv.Failures(); len(f) > 0 || srv.Remaining() > 0 {
		t.Errorf("the model received unexpected requests: %v, %d steps left", f, srv.Remaining())
	}
}

func TestAFollowUpRemembersAndGoesOnWithTheFiles(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{"overlay", "copy"} {
		t.Run(layout, func(t *testing.T) {
			t.Parallel()
			rig, repo := newRig(t), newRepo(t, sample)
			rig.env = append(rig.env, "SANDBOXRUN_LAYOUT="+layout)
			before, head := fingerprint(t, repo.dir), repo.git("rev-parse", "HEAD")
			srv := rig.model(modelserver.Scenario{Name: "talk", Steps: []modelserver.Step{
				shell("echo one > one.txt && rm old.txt && hostname > /tmp/box"), say("The word is heliotrope."),
				{Expect: "heliotrope", Tools: shell("cat one.txt && test ! -e old.txt && test ! -e /tmp/box && echo two >> one.txt").Tools},
				say("Second."),
				{Expect: "SECOND-INSTRUCTION", Text: "Third."},
			}})
			first := rig.good(sessionTask(repo, "talk", "FIRST-INSTRUCTION"))
			if d := cmp.Diff(&document.SessionResult{ID: "talk", RunIndex: 1}, first.Session); d != "" {
				t.Errorf("session of the first run:\n%s", d)
			}
			second := rig.good(sessionTask(repo, "talk", "SECOND-INSTRUCTION"))
			if d := cmp.Diff(&document.SessionResult{ID: "talk", RunIndex: 2, Resumed: true}, second.Session); d != "" {
				t.Errorf("session of the second run:\n%s", d)
			}
			third := rig.good(sessionTask(repo, "", "Say a third thing."), "--session", "talk")
			assertScriptKept(t, srv)
			if d := cmp.Diff(map[string]string{"one.txt": "modified"}, changes(second)); d != "" {
				t.Errorf("files_changed is not what the second run did:\n%s", d)
			}
			if first.Git.BaseCommit != head || second.Git.BaseCommit != first.Git.Commit || third.Git.BaseCommit != second.Git.Commit {
				t.Errorf("bases %s, %s, %s", first.Git.BaseCommit, second.Git.BaseCommit, third.Git.BaseCommit)
			}
			if third.Git.Branch != "" || third.Session.RunIndex != 3 {
				t.Errorf("third run: %+v, %+v", third.Git, third.Session)
			}
			log := strings.Fields(repo.git("log", "--format=%H", second.Git.Branch))
			if d := cmp.Diff([]string{second.Git.Commit, first.Git.Commit, head}, log); d != "" {
				t.Errorf("history of the second branch:\n%s", d)
			}
			if got := repo.git("show", second.Git.Branch+":one.txt"); got != "one\ntwo" {
				t.Errorf("one.txt is %q", got)
			}
			if refs := repo.git("for-each-ref", "--format=%(refname)"); len(strings.Fields(refs)) != 3 {
				t.Errorf("refs:\n%s", refs)
			}
			repo.git("fsck", "--strict")
			if d := cmp.Diff(before, fingerprint(t, repo.dir)); d != "" {
				t.Errorf("the user's repository changed:\n%s", d)
			}
			// The last run changed nothing, and the one before only what the first had made; the session as a whole applies.
			if o := rig.run(nil, "apply", second.RunID); o.exit != 2 || !strings.Contains(string(o.stderr), "--session") {
				t.Errorf("a part of the session was applied: exit %d: %s", o.exit, o.stderr)
			}
			if o := rig.run(nil, "apply", "--session", third.RunID); o.exit != 0 || !strings.Contains(string(o.stdout), "applied 3 runs of a session") {
				t.Errorf("apply --session: exit %d: %s%s", o.exit, o.stdout, o.stderr)
			}
			if got := repo.git("status", "--porcelain"); got != "D old.txt\n?? one.txt" {
				t.Errorf("the working tree has %q", got)
			}
			if first.Agent.SessionID != second.Agent.SessionID {
				t.Errorf("the CLI's sessions are %s and %s", first.Agent.SessionID, second.Agent.SessionID)
			}
		})
	}
}

// The next turn lands an unlanded one with its own.
func TestUnlandedTurnLandsWithTheNext(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.model(modelserver.Scenario{Name: "unlanded", Steps: []modelserver.Step{
		shell("echo one > one.txt"), say("First."), shell("echo two > two.txt"), say("Second."),
	}})
	first := rig.good(sessionTask(repo, "s", "one"), "--land", "none")
	second := rig.good(sessionTask(repo, "s", "two"))
	if first.Git.Branch != "" || len(second.FilesChanged) != 1 {
		t.Errorf("first %+v, files of second %+v", first.Git, second.FilesChanged)
	}
	if got := repo.git("ls-tree", "--name-only", second.Git.Branch, "one.txt", "two.txt"); got != "one.txt\ntwo.txt" {
		t.Errorf("tree of the second branch: %q", got)
	}
	if n := len(strings.Fields(repo.git("log", "--format=%H", second.Git.Branch))); n != 3 {
		t.Errorf("%d commits on the second branch", n)
	}
	repo.git("fsck", "--strict")
}

// The session does not depend on its earlier branches: a user who merged or discarded them may let git collect their
// objects.
func TestASessionOutlivesItsBranches(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	srv := rig.model(modelserver.Scenario{Name: "gone", Steps: []modelserver.Step{
		shell("echo one > one.txt"), say("First."), shell("test -e one.txt && echo two > two.txt"), say("Second."),
	}})
	first := rig.good(sessionTask(repo, "s", "one"))
	repo.git("branch", "-D", first.Git.Branch)
	repo.git("gc", "-q", "--prune=now")
	second := rig.good(sessionTask(repo, "s", "two"))
	if log := strings.Fields(repo.git("log", "--format=%H", second.Git.Branch)); len(log) != 3 || log[1] != first.Git.Commit {
		t.Errorf("history of the second branch: %v", log)
	}
	repo.git("fsck", "--strict")
	assertScriptKept(t, srv)
}

func TestASessionMayBeginOnUncommittedChanges(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	repo.write(map[string]string{"dirty.txt": "mine\n"})
	srv := rig.model(modelserver.Scenario{Name: "dirty", Steps: []modelserver.Step{
		say("First."), shell("test -e dirty.txt && echo two > two.txt"), say("Second."),
	}})
	task := sessionTask(repo, "s", "one")
	task["context"] = map[string]any{"repo_root": repo.dir, "include_dirty": true}
	rig.good(task)
	second := rig.good(sessionTask(repo, "s", "two"))
	if d := cmp.Diff(map[string]string{"two.txt": "added"}, changes(second)); d != "" {
		t.Errorf("files_changed:\n%s", d)
	}
	if got := repo.git("show", second.Git.Branch+":dirty.txt"); got != "mine" {
		t.Errorf("dirty.txt is %q on the branch", got)
	}
	repo.git("fsck", "--strict")
	assertScriptKept(t, srv)
}

func TestARetryGoesBackInFilesAndConversation(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	srv := rig.model(modelserver.Scenario{Name: "retry", Steps: []modelserver.Step{
		shell("echo one > one.txt"), say("Of the first: heliotrope."),
		shell("echo two > two.txt"), say("Of the second: marigold."),
		say("Of the third: nothing."),
		{Expect: "heliotrope", Tools: shell("test -e one.txt && test ! -e two.txt && echo 2b > two-b.txt").Tools}, say("Of the retry."),
		shell("test ! -e one.txt && echo fresh > fresh.txt"), say("Of the beginning."),
	}})
	first := rig.good(sessionTask(repo, "r", "one"))
	before := len(srv.Requests())
	second := rig.good(sessionTask(repo, "r", "two"))
	toSecond := firstTold(srv.Requests()[before:])
	third := rig.good(sessionTask(repo, "r", "three"))

	before = len(srv.Requests())
	retry := rig.good(sessionTask(repo, "r", "two again"), "--retry", second.RunID)
	if d := cmp.Diff(&document.SessionResult{ID: "r", RunIndex: 2, Resumed: true, RetryOf: second.RunID}, retry.Session); d != "" {
		t.Errorf("session of the retry:\n%s", d)
	}
	asked := srv.Requests()[before:]
	view, _ := rig.session("r")
	if len(view.Runs) != 2 || view.Runs[0].RunID != first.RunID || view.Runs[1].RunID != retry.RunID {
		t.Errorf("line after the retry: %+v", view.Runs)
	}
	if told := firstTold(asked); told != toSecond {
		t.Errorf("the retry was told %d messages, the run it replaces %d", told, toSecond)
	}
	if retry.Git.BaseCommit != first.Git.Commit || changes(retry)["two-b.txt"] != "added" || len(retry.FilesChanged) != 1 {
		t.Errorf("retry: %+v, %+v", retry.Git, retry.FilesChanged)
	}
	for _, dropped := range []string{second.RunID, third.RunID} {
		if _, err := os.Stat(filepath.Join(rig.state, "runs", dropped, "result.json")); err != nil {
			t.Errorf("the record of a dropped run is gone: %v", err)
		}
		if _, err := os.Stat(filepath.Join(rig.state, "sessions", "r", "home", dropped+".tar")); !os.IsNotExist(err) {
			t.Errorf("the conversation of a dropped run is still kept: %v", err)
		}
	}

	task := sessionTask(repo, "r", "from the beginning")
	task["retry_process_id"] = first.RunID
	began := rig.good(task)
	if began.Session.Resumed || began.Session.RunIndex != 1 || began.Git.BaseCommit != first.Git.BaseCommit || began.Agent.SessionID == first.Agent.SessionID {
		t.Errorf("retry of the first run: %+v, %+v", began.Session, began.Git)
	}
	assertScriptKept(t, srv)
	if doc, exit := rig.refuse(marshal(t, withRetry(repo, "r", second.RunID))); exit != 2 || doc.Error.Details[0].Path != "/retry_process_id" {
		t.Errorf("a run that is not in the line: exit %d, %+v", exit, doc)
	}
}

// firstTold is how many messages the first question to the model held.
func firstTold(asked []modelserver.Request) int {
	for _, q := range asked {
		if q.Main {
			return q.Messages
		}
	}
	return 0
}

func withRetry(r *repo, session, run string) map[string]any {
	task := sessionTask(r, session, "again")
	task["retry_process_id"] = run
	return task
}

func TestGoingBackWithUncommittedChangesNeedsForce(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.model(modelserver.Scenario{Name: "dirty", Steps: []modelserver.Step{say("one"), say("two"), say("three")}})
	first := rig.good(sessionTask(repo, "d", "one"))
	repo.write(map[string]string{"README.md": "changed\n"})
	if follow := rig.good(sessionTask(repo, "d", "two")); !hasCode(follow, "dirty_tree") {
		t.Errorf("a follow-up does not report uncommitted changes: %v", codes(follow))
	}
	task := withRetry(repo, "d", first.RunID)
	doc, exit := rig.refuse(marshal(t, task))
	if exit != 2 || !strings.Contains(doc.Error.Message, "uncommitted") || !strings.Contains(doc.Error.Details[0].Message, "README.md") {
		t.Errorf("exit %d, %+v", exit, doc)
	}
	if view, _ := rig.session("d"); len(view.Runs) != 2 || view.Busy {
		t.Errorf("a refused retry left %+v", view)
	}
	task["force_when_dirty"] = true
	if res := rig.good(task); res.Session.RetryOf != first.RunID || !hasCode(res, "dirty_tree") {
		t.Errorf("%+v, %v", res.Session, codes(res))
	}
}

func TestASessionIsBoundToItsRepositoryAndAgent(t *testing.T) {
	t.Parallel()
	rig, repo, other := newRig(t), newRepo(t, sample), newRepo(t, sample)
	rig.model(modelserver.Scenario{Name: "bound", Steps: []modelserver.Step{say("one"), say("two")}})
	rig.good(sessionTask(repo, "s", "one"))
	edit := func(f func(map[string]any)) map[string]any {
		task := sessionTask(repo, "s", "two")
		f(task)
		return task
	}
	cases := map[string]struct {
		task    map[string]any
		pointer string
	}{
		"another repository": {sessionTask(other, "s", "two"), "/context/repo_root"},
		"another agent":      {edit(func(m map[string]any) { m["agent"] = "codex" }), "/agent"},
		"another base":       {edit(func(m map[string]any) { m["context"] = map[string]any{"repo_root": repo.dir, "base": "main"} }), "/context/base"},
		"dirty files":        {edit(func(m map[string]any) { m["context"] = map[string]any{"repo_root": repo.dir, "include_dirty": true} }), "/context/include_dirty"},
		"no agent":           {edit(func(m map[string]any) { m["execution_mode"], m["suggested_commands"] = "command", []string{"true"} }), "/session_id"},
		"bad id":             {edit(func(m map[string]any) { m["session_id"] = "../s" }), "/session_id"},
		"unknown run":        {withRetry(repo, "s", "01j00000000000000000000000"), "/retry_process_id"},
		"retry of nothing":   {withRetry(repo, "none", "01j00000000000000000000000"), "/retry_process_id"},
	}
	for name, c := range cases {
		doc, exit := rig.refuse(marshal(t, c.task))
		if exit != 2 || doc.Error.Type != "invalid_input" || len(doc.Error.Details) == 0 || doc.Error.Details[0].Path != c.pointer {
			t.Errorf("%s: exit %d, %+v", name, exit, doc)
		}
	}
	if view, _ := rig.session("s"); len(view.Runs) != 1 || view.Busy {
		t.Errorf("refused runs left %+v", view)
	}
	if _, ok := rig.session("none"); ok {
		t.Error("a refused run made a session")
	}
	task := sessionTask(repo, "s", "two")
	task["agent"] = map[string]any{"name": "claude", "model": "another-model"}
	if res := rig.good(task); !res.Session.Resumed {
		t.Errorf("another model: %+v", res.Session)
	}
}

func TestARemovedSessionBeginsAnew(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	rig.model(modelserver.Scenario{Name: "rm", Steps: []modelserver.Step{say("one"), say("two")}})
	rig.good(sessionTask(repo, "s", "one"))
	if o := rig.run(nil, "sessions", "rm", "--json", "s"); o.exit != 0 || !bytes.Contains(o.stdout, []byte(`"s"`)) {
		t.Errorf("rm: exit %d: %s%s", o.exit, o.stdout, o.stderr)
	}
	if left, err := os.ReadDir(filepath.Join(rig.state, "sessions")); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if o := rig.run(nil, "sessions", "rm", "s"); o.exit != 2 {
		t.Errorf("rm of nothing: exit %d", o.exit)
	}
	if res := rig.good(sessionTask(repo, "s", "two")); res.Session.Resumed || res.Session.RunIndex != 1 {
		t.Errorf("%+v", res.Session)
	}
}
