package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"sandboxrun/agents/scripted/modelserver"
)

// The archive of a conversation comes from the box: it may be too large, and may contain links to anywhere. The host
// never opens it.
func TestAHostileHomeIsBoundedAndNeverUnpackedOnTheHost(t *testing.T) {
	t.Parallel()
	t.Run("too large", func(t *testing.T) {
		t.Parallel()
		rig, repo := newRig(t), newRepo(t, sample)
		srv := rig.model(modelserver.Scenario{Name: "large", Steps: []modelserver.Step{
			shell("echo one > one.txt; head -c 200000000 /dev/zero > ~/.claude/projects/fill"), say("one"),
			shell("test -e one.txt && echo two > two.txt"), say("two"),
		}})
		res, o := rig.execute(sessionTask(repo, "s", "one"))
		if o.exit != 3 || !hasCode(res, "session_lost") || changes(res)["one.txt"] != "added" || !res.Box.Cleanup.Complete {
			t.Errorf("exit %d, %v, %+v, %+v", o.exit, codes(res), res.FilesChanged, res.Box.Cleanup)
		}
		if left, err := os.ReadDir(filepath.Join(rig.state, "sessions", "s", "home")); err != nil || len(left) != 0 {
			t.Errorf("left of the conversation: %v, %v", left, err)
		}
		next := rig.good(sessionTask(repo, "s", "two"))
		if next.Session.Resumed || next.Session.RunIndex != 2 || len(next.FilesChanged) != 1 {
			t.Errorf("%+v, %+v", next.Session, next.FilesChanged)
		}
		assertScriptKept(t, srv)
	})
	t.Run("links", func(t *testing.T) {
		t.Parallel()
		rig, repo := newRig(t), newRepo(t, sample)
		target := filepath.Join(t.TempDir(), "target")
		if err := os.MkdirAll(target, 0o777); err != nil {
			t.Fatal(err)
		}
		srv := rig.model(modelserver.Scenario{Name: "links", Steps: []modelserver.Step{
			shell("ln -s " + target + " ~/.claude/projects/out; ln -s / ~/.claude/projects/root; ln -s /workspace ~/.claude/plans; mkdir ~/not-kept"), say("The word is heliotrope."),
			{Expect: "heliotrope", Tools: shell("test -L ~/.claude/projects/out && test ! -e ~/not-kept && ! echo x > ~/.claude/projects/out/x").Tools}, say("two"),
		}})
		rig.good(sessionTask(repo, "s", "one"))
		if res := rig.good(sessionTask(repo, "s", "two")); !res.Session.Resumed || len(res.FilesChanged) != 0 {
			t.Errorf("%+v, %+v", res.Session, res.FilesChanged)
		}
		if left, err := os.ReadDir(target); err != nil || len(left) != 0 {
			t.Errorf("the host's directory holds %v, %v", left, err)
		}
		assertScriptKept(t, srv)
	})
}
