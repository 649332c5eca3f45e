package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
	"sandboxrun/agents/scripted/kit"
	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/sandbox"
)

// scene is a turn or several of one conversation that is recorded with the real
// CLI and played again.
type scene struct {
	name  string
	files map[string]string
	// script is what the model says; nil where the scene is not for this CLI.
	script  func(k kit.Kit) []modelserver.Step
	decide  func(ctx context.Context, r agents.ApprovalRequest) agents.Decision
	prompts []string // one turn each; nil for one with the usual prompt
	cancels bool     // the turn is cancelled while its command runs
}

// sceneStarted is the file by which the command of a scene says that it runs.
const sceneStarted = "started"

// errSceneCancelled is the cause of a cancelled scene.
var errSceneCancelled = errors.New("time is up")

// scenes are what is recorded of each CLI.
var scenes = []scene{
	{
		name: "work", files: map[string]string{"src/sum.sh": "echo $(($1 - $2))\n", "old.txt": "old\n"},
		script: func(k kit.Kit) []modelserver.Step {
			return []modelserver.Step{
				{Text: "I look first.", Thinking: "hm", Tools: []modelserver.ToolUse{k.Read("src/sum.sh")}},
				agentstest.Uses(k.Edit("src/sum.sh", "$1 - $2", "$1 + $2")),
				agentstest.Uses(k.Write("NOTES.md", "# Notes\n\nmöbius ✓\n")),
				agentstest.Uses(k.Run("rm old.txt && sh src/sum.sh 1 2 && echo seén")),
				agentstest.Uses(k.Run("echo no >&2; exit 3")),
				{Text: "All done ✓."},
			}
		},
	},
	{
		name: "denied", files: map[string]string{"keep.txt": "keep\n"},
		script: func(k kit.Kit) []modelserver.Step {
			return []modelserver.Step{agentstest.Uses(k.Write("a.txt", "a\n")), {Text: "I could not."}, {Text: "I could not."}}
		},
		decide: func(context.Context, agents.ApprovalRequest) agents.Decision {
			return agents.Decision{Reason: "edits are not wanted here"}
		},
	},
	{
		name: "question",
		script: func(k kit.Kit) []modelserver.Step {
			ask, ok := k.Question("Which colour?", "red", "blue")
			if !ok {
				return nil
			}
			return []modelserver.Step{agentstest.Uses(ask), {Text: "Thanks.", Expect: "blue"}}
		},
		decide: func(_ context.Context, r agents.ApprovalRequest) agents.Decision {
			d := agents.Decision{Allow: true, Answers: map[string][]string{}}
			for _, q := range r.Questions {
				d.Answers[q.ID] = []string{"blue"}
			}
			return d
		},
	},
	{
		name: "refused_key",
		script: func(kit.Kit) []modelserver.Step {
			return []modelserver.Step{agentstest.Failing(401, "authentication_error", "invalid key", -1)}
		},
	},
	{
		name: "rate_limit_passes",
		script: func(kit.Kit) []modelserver.Step {
			return []modelserver.Step{
				{Fault: &modelserver.Fault{Status: 429, Type: "rate_limit_error", Message: "slow down", RetryAfter: 1}}, {Text: "done"},
			}
		},
	},
	{
		name: "cancel",
		script: func(k kit.Kit) []modelserver.Step {
			return []modelserver.Step{agentstest.Uses(k.Run("touch " + sceneStarted + "; tail -f /dev/null")), {Text: "done"}}
		},
		cancels: true,
	},
	{
		name: "follow_up",
		script: func(kit.Kit) []modelserver.Step {
			return []modelserver.Step{{Text: "The word is marmalade."}, {Text: "It was that word.", Expect: "marmalade"}}
		},
		prompts: []string{"tell me a word", "which word was it?"},
	},
}

// scenesOf lists the scenes for a CLI, with their scripts in its own tools.
func scenesOf(t *testing.T, agent string) map[string][]modelserver.Step {
	t.Helper()
	k, err := kit.Load(agent)
	if err != nil {
		t.Fatal(err)
	}
	list := map[string][]modelserver.Step{}
	for _, s := range scenes {
		if steps := s.script(k); len(steps) > 0 {
			list[s.name] = steps
		}
	}
	return list
}

// perform takes the turns of the scene, each in a box of its own, and tells what
// the host saw as lines of JSON: events, what was asked, outcome and error of
// each turn.
func (s scene) perform(ctx context.Context, t *testing.T, a agents.Agent, turn agents.Turn, box func(turn int) sandbox.Sandbox) []byte {
	t.Helper()
	prompts := s.prompts
	if len(prompts) == 0 {
		prompts = []string{turn.Prompt}
	}
	var out bytes.Buffer
	for i, prompt := range prompts {
		host := &agentstest.Recorder{Decide: s.decide}
		turn.Prompt = prompt
		o, err := a.Run(ctx, box(i), turn, host)
		for _, e := range host.Events {
			tell(t, &out, string(e.Kind), e.Data)
		}
		for _, q := range host.Asked {
			tell(t, &out, "approval", toldRequest(q))
		}
		tell(t, &out, "outcome", o)
		if err != nil {
			tell(t, &out, "error", err.Error())
		}
		turn.Resume, turn.SessionID = true, o.SessionID
	}
	return out.Bytes()
}

func tell(t *testing.T, out *bytes.Buffer, kind string, data any) {
	t.Helper()
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(struct {
		Kind string `json:"kind"`
		Data any    `json:"data"`
	}{kind, data}); err != nil {
		t.Errorf("tell %s: %v", kind, err)
	}
}
