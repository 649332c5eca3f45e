package image

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"sandboxrun/agents"
	_ "sandboxrun/agents/all" // the agents register themselves
	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/images"
	"sandboxrun/internal/testenv"
	"sandboxrun/sandbox"
)

// stagesOf returns the text of every agent's stage by the agent's name.
func stagesOf(t *testing.T, chosen []agents.Info) map[string]string {
	t.Helper()
	b := images.Build{Agents: imageAgents(chosen)}
	if err := b.Check(); err != nil {
		t.Fatal(err)
	}
	stages := map[string]string{}
	for _, stage := range strings.Split("\n"+string(b.Dockerfile()), "\nFROM ")[1:] {
		name, text, _ := strings.Cut(stage, "\n")
		if name, ok := strings.CutPrefix(name, "npm AS agent-"); ok {
			text, _, _ = strings.Cut(text, "\n\n")
			stages[name] = text
		}
	}
	return stages
}

func TestImageHasAStagePerRegisteredAgentThatDependsOnItAlone(t *testing.T) {
	t.Parallel()
	all := stagesOf(t, Registered())
	if len(all) != len(Registered()) {
		t.Errorf("stages of %d agents, %d are registered", len(all), len(Registered()))
	}
	if diff := cmp.Diff(all, stagesOf(t, Registered())); diff != "" {
		t.Errorf("the text changes from call to call:\n%s", diff)
	}
	for i, a := range Registered() {
		if diff := cmp.Diff(map[string]string{a.Name: all[a.Name]}, stagesOf(t, []agents.Info{a})); diff != "" {
			t.Errorf("%s alone has another stage (-with all +alone):\n%s", a.Name, diff)
		}
		newer := Registered()
		newer[i].Version = "999.0.0"
		for name, stage := range stagesOf(t, newer) {
			if changed := stage != all[name]; changed != (name == a.Name) {
				t.Errorf("a new version of %s changes the stage of %s: %v", a.Name, name, changed)
			}
		}
	}
}

func TestChooseAgentsTakesEachOnce(t *testing.T) {
	t.Parallel()
	chosen, err := ChooseAgents([]string{"claude", "CLAUDE_CODE", "claude"})
	if err != nil || len(chosen) != 1 || chosen[0].Name != "claude" {
		t.Errorf("chooseAgents = %+v, %v", chosen, err)
	}
	if all, err := ChooseAgents(nil); err != nil || len(all) != len(Registered()) {
		t.Errorf("no names choose %d agents, %v", len(all), err)
	}
	if _, err := ChooseAgents([]string{"nobody"}); err == nil {
		t.Error("an agent called nobody was found")
	}
}

func TestImageBuildPrintsTheDockerfileOfTheChosenAgents(t *testing.T) {
	t.Parallel()
	chosen, err := ChooseAgents([]string{"claude"})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	app := &cli.App{Commands: []*cli.Command{Command(Host{Stdout: &out})}}
	if err := app.RunContext(t.Context(), []string{"sandboxrun", "image", "build", "--print", "claude"}); err != nil {
		t.Fatal(err)
	}
	want := string(images.Build{Agents: imageAgents(chosen)}.Dockerfile())
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
	for _, part := range []string{"FROM npm AS agent-claude\n", "COPY --from=agent-claude /out/ /\n", chosen[0].Version} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("the Dockerfile lacks %q", part)
		}
	}
	if strings.Contains(out.String(), "\n# @") {
		t.Error("a mark is left in the Dockerfile")
	}
	if err := app.RunContext(t.Context(), []string{"sandboxrun", "image", "build", "--print", "nobody"}); err == nil {
		t.Error("an unknown agent was accepted")
	}
}

func TestAgentsInListsTheImagesLabels(t *testing.T) {
	t.Parallel()
	got := agentsIn(sandbox.ImageInfo{Labels: map[string]string{
		images.AgentLabel + "zeta": "2", images.AgentLabel + "alpha": "1\n\x1b[31m", images.InputsLabel: "digest", "other": "x",
	}})
	if !strings.HasPrefix(got, "alpha@1") || strings.ContainsAny(got, "\n\x1b") || !strings.HasSuffix(got, " zeta@2") {
		t.Errorf("agentsIn = %q", got)
	}
}

// TestEveryAgentOfTheImageStartsInAHardenedBox finds the agents by the image's
// labels.
func TestEveryAgentOfTheImageStartsInAHardenedBox(t *testing.T) {
	t.Parallel()
	testenv.Engine(t, images.Name)
	out, err := exec.CommandContext(t.Context(), "docker", "image", "inspect", "--format", "{{json .Config.Labels}}", images.Name).Output()
	if err != nil {
		t.Fatal(err)
	}
	var labels map[string]string
	if err := json.Unmarshal(out, &labels); err != nil {
		t.Fatal(err)
	}
	known := Registered()
	for label, version := range labels {
		name, ok := strings.CutPrefix(label, images.AgentLabel)
		if !ok {
			continue
		}
		program := name
		if i := slices.IndexFunc(known, func(a agents.Info) bool { return a.Name == name }); i >= 0 {
			program = known[i].Binary
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// One box answers all questions.
			answers := strings.Split(inHardenedBox(t, program+` --version; echo @@
				head -c 19 "$(command -v `+program+`)"; echo @@
				find /opt/agents/`+name+` -type f -perm -u+x -size +20M ! -name '*.js' ! -name '*.mjs' 2>/dev/null || true; echo @@
				readlink "$(readlink "$(command -v `+program+`)")" || true`), "@@\n")
			if len(answers) != 4 {
				t.Fatalf("%q", answers)
			}
			if got := answers[0]; !strings.Contains(got, version) {
				t.Errorf("%s --version says %q, the label %s", program, got, version)
			}
			// A script that starts a native program, or another script that npm linked, comes between the agent and
			// its signals.
			start, native := answers[1], answers[2]
			if !strings.HasPrefix(start, "\x7fELF") && (start != "#!/usr/bin/env node" || native != "") {
				t.Errorf("%s begins with %q, and the native programs next to it are %q", program, start, native)
			}
			if hops := answers[3]; hops != "" {
				t.Errorf("%s is a link to a link to %s", program, hops)
			}
		})
	}
}

// inHardenedBox runs a shell script in the agent image, hardened as a box is. HOME has room for what an agent unpacks
// there by default.
func inHardenedBox(t *testing.T, script string) string {
	t.Helper()
	tmpfs := ":uid=10001,gid=10001,size=512m"
	out, err := exec.CommandContext(t.Context(), "docker", "run", "--rm", "--network", "none", "--read-only", "--cap-drop", "ALL",
		"--security-opt", "no-new-privileges", "--user", "10001:10001", "--tmpfs", "/tmp"+tmpfs,
		"--tmpfs", "/home/agent"+tmpfs, "--env", "HOME=/home/agent", images.Name, "sh", "-euc", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, render.Printable(string(out)))
	}
	return string(out)
}
