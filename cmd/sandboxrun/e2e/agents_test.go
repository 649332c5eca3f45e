package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/agents"
	"sandboxrun/agents/scripted/kit"
	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/internal/testenv"
	"sandboxrun/runner/document"
)

// agentShares is how many agents each test takes where not every case is wanted.
// Each goes on in the list of agents where the one before ended, so that together
// they make a whole run with every agent. The tests with two turns are where the
// agents are whose turns take the least time.
var agentShares = []struct {
	test string
	n    int
}{
	{"TestEveryAgentRemembersInANewBox", 2}, {"TestEveryAgentMendsARepositoryUnderGVisor", 2}, {"TestEveryAgentMendsARepository", 3},
	{"TestEveryAgentOnlyPlansInPLAN", 2}, {"TestEveryAgentsRequestTimesOut", 1},
}

func TestSharesOfAgentsCoverAllAgents(t *testing.T) {
	t.Parallel()
	n := 0
	for _, s := range agentShares {
		n += s.n
	}
	if all := len(agents.All()); n < all {
		t.Errorf("the tests take %d of %d agents: give one of them a larger share", n, all)
	}
}

// sampledAgents runs test for each registered agent, or for the test's share of
// them where not every case is wanted.
func sampledAgents(t *testing.T, test func(t *testing.T, info agents.Info, k kit.Kit)) {
	t.Helper()
	all := agents.All()
	from, n := 0, 0
	for _, s := range agentShares {
		if from, n = from+n, s.n; s.test == t.Name() {
			break
		}
	}
	from %= len(all)
	all = slices.Concat(all[from:], all[:from])
	if !testenv.All() && n < len(all) {
		t.Logf("sample: %d of %d agents; \"make test-all\" runs every one", n, len(all))
		all = all[:n]
	}
	for _, a := range all {
		info := a.Info()
		t.Run(info.Name, func(t *testing.T) {
			t.Parallel()
			k, err := kit.Load(info.Name)
			if err != nil {
				t.Fatal(err)
			}
			test(t, info, k)
		})
	}
}

// agentSteps is the main task in an agent's own tools: edit, add, delete, run.
func agentSteps(k kit.Kit) []modelserver.Step {
	use := func(u modelserver.ToolUse) modelserver.Step {
		return modelserver.Step{Tools: []modelserver.ToolUse{u}}
	}
	return []modelserver.Step{
		use(k.Read("sum.sh")), use(k.Edit("sum.sh", "$1 - $2", "$1 + $2")), use(k.Write("NOTES.md", "# Notes\n")),
		use(k.Run("rm old.txt && sh test.sh && env > /tmp/env && { grep -c e2e-the-real /tmp/env; grep -c ^PATH= /tmp/env; } > env.txt; true")),
		{Text: "All done; every test in the world passes."},
	}
}

// mendWith lets an agent do the main task and checks everything a run promises.
func mendWith(t *testing.T, name string, k kit.Kit, change func(task map[string]any), flags ...string) document.Result {
	t.Helper()
	rig, repo := newRig(t), newRepo(t, sample)
	srv := rig.models(modelserver.Scenario{Name: "mend", Steps: agentSteps(k)})
	before := fingerprint(t, repo.dir)
	task := agentTask(repo)
	agent := map[string]any{"name": name}
	if k.Model != "" {
		agent["model"] = k.Model
	}
	task["agent"] = agent
	if change != nil {
		change(task)
	}
	res, o := rig.execute(task, flags...)
	if o.exit != 0 || res.Status != document.StatusSuccess {
		t.Fatalf("exit %d, %s, issues %+v, summary %s\n%.3000s", o.exit, res.Status, res.Issues, res.Summary, o.stderr)
	}
	if d := cmp.Diff(map[string]string{"sum.sh": "modified", "NOTES.md": "added", "env.txt": "added", "old.txt": "deleted"}, changes(res)); d != "" {
		t.Errorf("files_changed:\n%s", d)
	}
	if d := cmp.Diff(before, fingerprint(t, repo.dir)); d != "" {
		t.Errorf("the user's repository changed:\n%s", d)
	}
	ran := false
	for _, c := range res.CommandsRun {
		ran = ran || c.Source == "agent" && strings.Contains(c.Command, "sh test.sh")
	}
	if !ran {
		t.Errorf("commands_run lacks the agent's own command: %+v", res.CommandsRun)
	}
	if strings.Contains(res.Summary, "world") {
		t.Errorf("the summary has the agent's words: %q", res.Summary)
	}
	if res.Agent.Claim == "" || res.Agent.Usage.Requests < 5 {
		t.Errorf("agent %+v", res.Agent)
	}
	// A program without settings of ours may send any request to its model and its vendor.
	if known := !strings.HasPrefix(name, "acp:"); known && !strings.Contains(res.Agent.Claim, "every test in the world") {
		t.Errorf("claim %q", res.Agent.Claim)
	} else if known && len(res.Box.Network.Denied) != 0 {
		t.Errorf("requested denied hosts: %v", res.Box.Network.Denied)
	}
	for _, q := range srv.Requests() {
		if q.Main && q.Key != realKey {
			t.Errorf("the provider received key %q", q.Key)
		}
	}
	kinds := eventKinds(t, rig, res.RunID)
	for _, k := range []string{"run_started", "phase_started", "phase_ended", "user_message", "assistant_message", "tool_call", "tool_result", "usage", "file_changed", "approval_asked", "run_ended"} {
		if kinds[k] == 0 {
			t.Errorf("no %s event in the journal: %v", k, kinds)
		}
	}
	assertKeyNowhere(t, rig, o)
	if seen := repo.git("show", res.Git.Branch+":env.txt"); seen != "0\n1" {
		t.Errorf("how often the model's shell saw the key, and a PATH: %q", seen)
	}
	return res
}

func TestEveryAgentMendsARepository(t *testing.T) {
	t.Parallel()
	sampledAgents(t, func(t *testing.T, info agents.Info, k kit.Kit) {
		res := mendWith(t, info.Name, k, nil)
		if res.Agent.Usage.OutputTokens == 0 {
			t.Errorf("usage %+v", res.Agent.Usage)
		}
		if res.Agent.CLIVersion != info.Version || hasCode(res, "agent_version_unknown") {
			t.Errorf("version %q, pinned %q", res.Agent.CLIVersion, info.Version)
		}
	})
}

func TestEveryAgentMendsARepositoryUnderGVisor(t *testing.T) {
	t.Parallel()
	testenv.Runtime(t, "runsc")
	sampledAgents(t, func(t *testing.T, info agents.Info, k kit.Kit) {
		res := mendWith(t, info.Name, k, func(task map[string]any) {
			task["box"] = map[string]any{"runtime": "runsc"}
			task["max_runtime_seconds"] = 170
		})
		if res.Box.Runtime != "runsc" {
			t.Errorf("ran under %q", res.Box.Runtime)
		}
	})
}

func TestACPAgentOfTheConfigurationMendsARepository(t *testing.T) {
	t.Parallel()
	k, err := kit.Load("qwen")
	if err != nil {
		t.Fatal(err)
	}
	mendWith(t, "acp:qwen --acp --approval-mode default", k, nil)
}

func TestClaudeMendsARepositoryThroughTheRouter(t *testing.T) {
	t.Parallel()
	k, err := kit.Load("claude")
	if err != nil {
		t.Fatal(err)
	}
	k.Model = "gpt-5.1"
	res := mendWith(t, "claude", k, nil, "--variant", "ROUTER")
	if res.Box.Network.Provider != "openai" || res.Agent.Model != "gpt-5.1" {
		t.Errorf("provider %q, model %q", res.Box.Network.Provider, res.Agent.Model)
	}
}

func TestEveryAgentOnlyPlansInPLAN(t *testing.T) {
	t.Parallel()
	sampledAgents(t, func(t *testing.T, info agents.Info, k kit.Kit) {
		rig, repo := newRig(t), newRepo(t, sample)
		rig.models(modelserver.Scenario{Name: "plan", Steps: []modelserver.Step{
			{Tools: []modelserver.ToolUse{k.Write("NOTES.md", "# Notes\n")}},
			{Tools: []modelserver.ToolUse{k.Run("echo x > shell.txt; rm -f old.txt; echo tried")}},
			{Text: "This is the plan."}, {Text: "This is the plan."}, {Text: "This is the plan."},
		}})
		task := agentTask(repo)
		task["agent"] = map[string]any{"name": info.Name, "variant": "PLAN", "model": k.Model}
		if k.Model == "" {
			delete(task["agent"].(map[string]any), "model")
		}
		delete(task, "acceptance_criteria")
		res, o := rig.execute(task)
		if len(res.FilesChanged) != 0 || hasCode(res, "constraint_violated") || !hasCode(res, "no_changes") {
			t.Errorf("exit %d, files %v, issues %+v", o.exit, changes(res), res.Issues)
		}
		if res.Agent.Claim == "" {
			t.Errorf("no plan: %+v, issues %+v", res.Agent, res.Issues)
		}
	})
}

func TestEveryAgentRemembersInANewBox(t *testing.T) {
	t.Parallel()
	sampledAgents(t, func(t *testing.T, info agents.Info, k kit.Kit) {
		const word = "marmalade-4711"
		rig, repo := newRig(t), newRepo(t, sample)
		srv := rig.models(modelserver.Scenario{Name: "remember", Steps: []modelserver.Step{
			{Tools: []modelserver.ToolUse{k.Write("NOTES.md", "first turn\n")}}, {Text: "The word is " + word + "."},
			{Tools: []modelserver.ToolUse{k.Run("cat NOTES.md && rm old.txt")}, Expect: word}, {Text: "It was " + word + "."},
		}})
		task := agentTask(repo)
		delete(task, "acceptance_criteria")
		task["agent"] = map[string]any{"name": info.Name}
		if k.Model != "" {
			task["agent"] = map[string]any{"name": info.Name, "model": k.Model}
		}
		first, o := rig.execute(task, "--session", "talk")
		if o.exit != 0 || changes(first)["NOTES.md"] != "added" {
			t.Fatalf("first turn: exit %d, files %v, issues %+v", o.exit, changes(first), first.Issues)
		}
		second, o := rig.execute(task, "--session", "talk")
		if o.exit != 0 || second.Session == nil || !second.Session.Resumed || !strings.Contains(second.Agent.Claim, word) {
			t.Errorf("second turn: exit %d, session %+v, agent %+v, issues %+v", o.exit, second.Session, second.Agent, second.Issues)
		}
		if d := cmp.Diff(map[string]string{"old.txt": "deleted"}, changes(second)); d != "" {
			t.Errorf("the second turn's files:\n%s", d)
		}
		if f := srv.Failures(); len(f) > 0 {
			t.Errorf("the model did not receive its earlier messages: %v", f)
		}
		if o := rig.run(nil, "sessions", "rm", "talk"); o.exit != 0 {
			t.Errorf("sessions rm: %s", o.stderr)
		}
	})
}
