package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
	"sandboxrun/agents/recordings"
	"sandboxrun/agents/scripted/kit"
	"sandboxrun/agents/scripted/transcript"
	"sandboxrun/sandbox"
)

// TestReplay plays what the real CLIs once said through the adapters and
// compares what they make of it. Every agent needs recordings of its pinned
// version; those of other versions are played where they are.
func TestReplay(t *testing.T) {
	t.Parallel()
	for _, a := range agents.All() {
		info := a.Info()
		t.Run(info.Name, func(t *testing.T) {
			t.Parallel()
			recorded := map[string]bool{}
			for _, version := range recordings.Versions(info.Name) {
				for _, name := range recordings.Scenarios(info.Name, version) {
					if version == info.Version {
						recorded[name] = true
					}
					t.Run(version+"/"+name, func(t *testing.T) { replayScene(t, info.Name, version, name) })
				}
			}
			for name := range scenesOf(t, info.Name) {
				if !recorded[name] {
					t.Errorf("no recording of %s %s in %s: record one: make record AGENT=%s", info.Name, info.Version, name, info.Name)
				}
			}
		})
	}
}

func replayScene(t *testing.T, agent, version, name string) {
	t.Parallel()
	i := slices.IndexFunc(scenes, func(s scene) bool { return s.name == name })
	if i < 0 {
		t.Fatalf("there is no scene %s any more: make record AGENT=%s", name, agent)
	}
	path := filepath.Join("..", "recordings", agent, version, name)
	f, err := os.Open(path + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	entries, err := transcript.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(path + ".events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if got := scenes[i].replay(t, agent, entries); !bytes.Equal(want, got) {
		t.Errorf("other events than recorded (make record AGENT=%s if that is meant) (-recorded +played):\n%s", agent, diffLines(want, got))
	}
}

// replay plays entries through the adapter. Time is that of the bubble: waits
// of the adapter cost nothing, and it has come to rest before each entry.
func (s scene) replay(t *testing.T, agent string, entries []transcript.Entry) (told []byte) {
	t.Helper()
	k, err := kit.Load(agent)
	if err != nil {
		t.Fatal(err)
	}
	a, ok := agents.Lookup(agent)
	if !ok {
		t.Fatalf("%s is not registered", agent)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		p := transcript.Play(entries, func(string) { cancel(errSceneCancelled) })
		// On the player's clock.
		ctx, cancelBound := context.WithTimeout(ctx, agentstest.Bound)
		defer cancelBound()
		told = s.perform(ctx, t, a, agents.Turn{
			Prompt: "do the work", SessionID: agentstest.Session, Wire: a.Info().Wires[0], BaseURL: playedURL, Token: agentstest.Placeholder, Model: k.Model, Dial: p.Dial,
		}, func(int) sandbox.Sandbox { return p })
		if err := p.End(); err != nil {
			t.Error(err)
		}
		told = p.Recorded(told)
	})
	return told
}

// diffLines compares two golden texts.
func diffLines(a, b []byte) string {
	return cmp.Diff(strings.Split(string(a), "\n"), strings.Split(string(b), "\n"))
}

// toldRequest is a request as it is written into a golden file.
func toldRequest(q agents.ApprovalRequest) any {
	var input any = json.RawMessage(q.Input)
	if !json.Valid(q.Input) {
		input = string(q.Input)
	}
	return struct {
		ID        string            `json:"id"`
		ToolID    string            `json:"tool_id"`
		Tool      string            `json:"tool"`
		Action    agents.Action     `json:"action"`
		Input     any               `json:"input"`
		Command   string            `json:"command,omitempty"`
		Paths     []string          `json:"paths,omitempty"`
		Questions []agents.Question `json:"questions,omitempty"`
	}{q.ID, q.ToolID, q.Tool, q.Action, input, q.Command, q.Paths, q.Questions}
}
