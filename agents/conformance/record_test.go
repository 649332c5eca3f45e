package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/agents/agentstest"
	"sandboxrun/agents/recordings"
	"sandboxrun/agents/scripted/kit"
	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/agents/scripted/transcript"
	"sandboxrun/sandbox"
)

var recordFlag = flag.Bool("record", false, "drive the real CLIs and write what they say below recordings/ (make record)")

// playedURL stands for the address of the model server in recordings.
const playedURL = "http://127.0.0.1:1"

// TestRecord makes the recordings that TestReplay plays. A scene is written only
// if it plays to the same events at once.
func TestRecord(t *testing.T) {
	t.Parallel()
	if !*recordFlag {
		t.Skip("the recordings stay as they are; `make record` makes them anew with the real CLIs")
	}
	for _, a := range agents.All() {
		info := a.Info()
		t.Run(info.Name, func(t *testing.T) {
			t.Parallel()
			steps := scenesOf(t, info.Name)
			dir := filepath.Join("..", "recordings", info.Name, info.Version)
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			index := recordings.Index{Agent: info.Name, Version: info.Version}
			t.Run("scenes", func(t *testing.T) {
				for _, s := range scenes {
					if steps[s.name] == nil {
						continue
					}
					t.Run(s.name, func(t *testing.T) {
						s.record(t, info.Name, filepath.Join(dir, s.name), steps[s.name])
						if t.Failed() {
							return
						}
						mu.Lock()
						defer mu.Unlock()
						index.Scenarios = append(index.Scenarios, s.name)
					})
				}
			})
			if len(index.Scenarios) != len(steps) {
				t.Fatalf("recorded %v only", index.Scenarios)
			}
			slices.Sort(index.Scenarios)
			b, err := json.Marshal(index)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "index.json"), append(b, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// record drives the real CLI through the scene and writes path.jsonl and
// path.events.jsonl.
func (s scene) record(t *testing.T, agent, path string, steps []modelserver.Step) {
	t.Helper()
	j := agentstest.NewJob(t, agent, s.files, steps...)
	k, err := kit.Load(agent)
	if err != nil {
		t.Fatal(err)
	}
	j.Turn.Model = k.Model
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	// The boxes of these tests have the host's network, and so its name.
	rec := transcript.Record(j.Server.URL(), playedURL, j.Server.URL()[len("http://"):], playedURL[len("http://"):], `"`+machine+`"`, `"box"`)
	rec.Cut("commands", "availableCommands", "availableSkillDetails", "messages", "toolsAdded")
	j.Turn.Dial = rec.Dial(j.Turn.Dial)

	bound, cancelBound := context.WithTimeout(t.Context(), agentstest.Bound)
	defer cancelBound()
	ctx, cancel := context.WithCancelCause(bound)
	defer cancel(nil)
	var watch sync.WaitGroup
	if s.cancels {
		watch.Go(func() {
			if j.Appears(bound, sceneStarted) {
				rec.Mark("cancel")
				cancel(errSceneCancelled)
			}
		})
	}
	live := s.perform(ctx, t, j.Agent, j.Turn, func(turn int) sandbox.Sandbox {
		if turn > 0 {
			j.KeepOnly(j.Agent.Info().Keep)
		}
		return rec.Box(agentstest.OpenBox(t, j.Workspace, j.Home))
	})
	if v := `"Version":"` + j.Agent.Info().Version + `"`; s.name == "work" && !bytes.Contains(live, []byte(v)) {
		t.Errorf("the image does not have the pinned version of the CLI:\n%.500s", live)
	}
	cancelBound()
	watch.Wait()
	if err := rec.Close(); err != nil {
		t.Error(err)
	}
	entries, err := rec.Entries()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range j.Server.Failures() {
		t.Error(f)
	}
	live = bytes.ReplaceAll(live, []byte(j.Server.URL()), []byte(playedURL))
	played := s.replay(t, agent, entries)
	if !bytes.Equal(live, played) {
		t.Errorf("the recording plays to other events than the CLI made (-live +played):\n%s", diffLines(live, played))
	}
	if t.Failed() {
		return
	}
	var b bytes.Buffer
	if err := transcript.Write(&b, entries); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{".jsonl": b.Bytes(), ".events.jsonl": played} {
		if err := os.WriteFile(path+name, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
