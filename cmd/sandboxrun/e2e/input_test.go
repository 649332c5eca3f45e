package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/images"
	"sandboxrun/internal/testenv"
)

func TestMalformedTasksAreRefusedWithPointersBeforeAnythingIsMade(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	with := func(extra string) string {
		return fmt.Sprintf(`{"objective":"x","context":{"repo_root":%q},"execution_mode":"command","suggested_commands":["true"]%s}`, repo.dir, extra)
	}
	cases := map[string]struct{ doc, pointer string }{
		"not json":          {`{`, ""},
		"null":              {`null`, ""},
		"a list":            {`[]`, ""},
		"two documents":     {with("") + with(""), ""},
		"unknown field":     {with(`,"privileged":true`), "/privileged"},
		"duplicate key":     {with(`,"objective":"y"`), "/objective"},
		"other case":        {with(`,"Objective":"y"`), "/Objective"},
		"NUL":               {with(`,"task_id":"a\u0000b"`), "/task_id"},
		"invalid utf-8":     {with(",\"notes_for_human\":\"\xff\""), ""},
		"no objective":      {strings.Replace(with(""), `"objective":"x",`, "", 1), "/objective"},
		"too long a limit":  {with(`,"max_runtime_seconds":86401`), "/max_runtime_seconds"},
		"negative limit":    {with(`,"max_runtime_seconds":-1`), "/max_runtime_seconds"},
		"escaping path":     {with(`,"protected_paths":["../x"]`), "/protected_paths/0"},
		"unknown check":     {with(`,"constraints":[{"kind":"no_such_check"}]`), "/constraints/0/kind"},
		"bad check":         {with(`,"constraints":[{"kind":"max_files_changed","max":-1}]`), "/constraints/0/max"},
		"foreign parameter": {with(`,"constraints":[{"kind":"max_files_changed","max":1,"paths":["a"]}]`), "/constraints/0/paths"},
		"bad size":          {with(`,"box":{"memory":"4 elephants"}`), "/box/memory"},
		"unknown agent":     {strings.Replace(with(`,"instructions":"y","agent":"nobody"`), `"command"`, `"code"`, 1), "/agent"},
		"unknown runtime":   {with(`,"box":{"runtime":"no-such-runtime"}`), "/box/runtime"},
		"bad task id":       {with(`,"task_id":"../../hooks/x"`), "/task_id"},
		"code without text": {strings.Replace(with(""), `"command"`, `"code"`, 1), "/instructions"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc, exit := rig.refuse([]byte(c.doc))
			if exit != 2 || doc.Error.Type != "invalid_input" {
				t.Fatalf("exit %d, %+v", exit, doc)
			}
			found := c.pointer == ""
			for _, d := range doc.Error.Details {
				found = found || d.Path == c.pointer
			}
			if !found {
				t.Errorf("no detail points at %q: %+v", c.pointer, doc.Error.Details)
			}
		})
	}
}

func TestAllProblemsAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	rig := newRig(t)
	doc, _ := rig.refuse([]byte(`{"objective":"","context":{"repo_root":"relative"},"execution_mode":"dance","max_runtime_seconds":0,"box":{"pids":-4},"nope":1}`))
	if len(doc.Error.Details) < 5 {
		t.Errorf("only %d problems: %+v", len(doc.Error.Details), doc.Error.Details)
	}
	if _, err := os.Stat(rig.state + "/runs"); !os.IsNotExist(err) {
		t.Errorf("a refused task left files: %v", err)
	}
}

func TestAMissingImageIsABridgeFailureWithAHint(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	task := repo.task("true")
	task["box"] = map[string]any{"image": "sandboxrun/no-such-image"}
	doc, exit := rig.refuse(marshal(t, task))
	if exit != 5 || doc.Error.Type != "bridge_failure" || doc.Error.Hint == "" {
		t.Errorf("exit %d, %+v", exit, doc)
	}
}

func TestMissingKeyIsReportedBeforeTheWork(t *testing.T) {
	t.Parallel()
	rig, repo := newRig(t), newRepo(t, sample)
	for i, v := range rig.env {
		if strings.HasPrefix(v, "ANTHROPIC_API_KEY=") {
			rig.env[i] = "ANTHROPIC_API_KEY="
		}
	}
	doc, exit := rig.refuse(marshal(t, agentTask(repo)))
	if exit != 2 || !strings.Contains(doc.Error.Message+doc.Error.Hint+fmt.Sprint(doc.Error.Details), "ANTHROPIC_API_KEY") {
		t.Errorf("exit %d, %+v", exit, doc)
	}
}

// The image is looked into once; later refusals know.
func TestAnImageWithoutTheAgentIsRefusedBeforeTheWork(t *testing.T) {
	t.Parallel()
	testenv.Engine(t, images.Base)
	rig, repo := newRig(t), newRepo(t, sample)
	task := agentTask(repo)
	task["box"] = map[string]any{"image": images.Base}
	for range 2 {
		doc, exit := rig.refuse(marshal(t, task))
		if exit != 2 || len(doc.Error.Details) != 1 || doc.Error.Details[0].Path != "/box/image" ||
			!strings.Contains(doc.Error.Details[0].Message, images.Base+` has no program "claude", which agent claude needs`) {
			t.Fatalf("exit %d, %+v", exit, doc)
		}
	}
	if known, err := os.ReadFile(filepath.Join(rig.state, "images.json")); err != nil || !strings.Contains(string(known), `"claude":false`) {
		t.Errorf("images.json: %s, %v", known, err)
	}
	if runs, err := os.ReadDir(filepath.Join(rig.state, "runs")); err != nil || len(runs) > 0 {
		t.Errorf("%d runs are left, %v", len(runs), err)
	}
	// A set-up or a command that finds no program says which and where.
	command := repo.task("nosuchprogram --version")
	command["box"] = map[string]any{"image": images.Base}
	res, _ := rig.execute(command)
	if len(res.Issues) == 0 || !strings.Contains(fmt.Sprint(res.Issues), "image "+images.Base+` has no program "nosuchprogram"`) {
		t.Errorf("issues %+v", res.Issues)
	}
}
