package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandboxrun/agents/scripted/modelserver"
	"sandboxrun/internal/testenv"
)

// desk is a person's machine with the agents' programs on it: the agent image with the network, the engine and the files
// of the rig, and a home of its own. The program under test is on its PATH.
type desk struct {
	rig  *rig
	home string
	env  []string
}

func (r *rig) desk() *desk {
	r.t.Helper()
	if os.Getenv("DOCKER_HOST") != "" {
		r.t.Skip("the programs reach the engine by its usual socket only")
	}
	d := &desk{rig: r, home: filepath.Join(filepath.Dir(r.state), "home")}
	for _, dir := range []string{d.home, filepath.Join(d.home, "bin"), r.state} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			r.t.Fatal(err)
		}
	}
	r.command() // writes the configuration
	for _, v := range r.env {
		if strings.HasPrefix(v, "SANDBOXRUN_") {
			d.env = append(d.env, v)
		}
	}
	d.env = append(d.env, "HOME="+d.home, "ANTHROPIC_API_KEY="+realKey, "PATH="+d.home+"/bin:/usr/local/bin:/usr/bin:/bin")
	return d
}

// run runs a shell script in a directory and returns what it prints.
func (d *desk) run(dir, script string, env ...string) (out string, ok bool) {
	d.rig.t.Helper()
	root := filepath.Dir(d.rig.state)
	args := []string{"run", "--rm", "--init", "--network", "host", "--entrypoint", "sh", "-w", dir, "-v", "/var/run/docker.sock:/var/run/docker.sock",
		"-v", root + ":" + root, "-v", filepath.Dir(dir) + ":" + filepath.Dir(dir), "-v", program + ":" + d.home + "/bin/sandboxrun:ro"}
	for _, v := range append(d.env, env...) {
		args = append(args, "-e", v)
	}
	c := exec.CommandContext(d.rig.t.Context(), "docker", append(args, agentImage, "-c", script)...)
	var text bytes.Buffer
	c.Stdout, c.Stderr = &text, &text
	c.WaitDelay = 5 * time.Second
	err := c.Run()
	return text.String(), err == nil
}

// Real clients find the tools, call them, and read the result.
func TestRealClientsOfMCPRunATask(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		name, tool, before, register, ask string
	}{
		{"claude", "mcp__sandboxrun__execute_task", "true", "claude mcp add --scope user sandboxrun -- sandboxrun mcp",
			"claude -p 'Run the task.' --allowedTools mcp__sandboxrun__execute_task"},
		// A model that the program does not know is offered every tool, and not a search for tools.
		{"codex", "execute_task", "true", "codex mcp add sandboxrun -- sandboxrun mcp",
			`codex exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox -c model_provider=scripted -c model=scripted ` +
				`-c 'model_providers.scripted={name="scripted",base_url="MODEL/v1",wire_api="responses",env_key="OPENAI_API_KEY"}' ` +
				"-c mcp_servers.sandboxrun.required=true " +
				`-c 'mcp_servers.sandboxrun.env_vars=["SANDBOXRUN_STATE_DIR","SANDBOXRUN_CONFIG","SANDBOXRUN_IMAGE"]' 'Run the task.' </dev/null`},
		{"gemini", "mcp_sandboxrun_execute_task", `mkdir -p ~/.gemini && echo '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' > ~/.gemini/settings.json`,
			"gemini mcp add --scope user sandboxrun sandboxrun mcp", "gemini --yolo --skip-trust -p 'Run the task.'"},
	} {
		if !strings.Contains(string(text), "\n"+c.register+"\n") {
			t.Errorf("the README does not have the line %s", c.register)
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if i > 0 {
				testenv.NeedsAll(t, "the others start slowly, and find the same tools")
			}
			rig, repo := newRig(t), newRepo(t, sample)
			task := taskNamed(repo, "by-"+c.name, "echo new > new.txt")
			task["acceptance_criteria"] = []any{map[string]any{"command": "test -f new.txt"}}
			model := rig.models(modelserver.Scenario{Name: c.name, Steps: []modelserver.Step{
				{Tools: []modelserver.ToolUse{modelserver.Tool(c.tool, map[string]any{"task": task})}},
				{Expect: "1 of 1 commands as expected in a fresh box", Text: "The task succeeded."},
			}})
			d := rig.desk()
			out, ok := d.run(repo.dir, c.before+" && "+c.register+" && "+strings.ReplaceAll(c.ask, "MODEL", model.URL()),
				"ANTHROPIC_BASE_URL="+model.URL(), "OPENAI_API_KEY="+realKey, "GEMINI_API_KEY="+realKey, "GOOGLE_GEMINI_BASE_URL="+model.URL(),
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_CLI_NO_RELAUNCH=true")
			if !ok || !strings.Contains(out, "The task succeeded.") || len(model.Failures()) > 0 {
				t.Fatalf("%v\n%s", model.Failures(), out)
			}
			if res := rig.oneResult("by-" + c.name); res.Status != "success" {
				t.Errorf("%+v", res)
			}
			rig.idle()
		})
	}
}
