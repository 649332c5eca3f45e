package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"sandboxrun/cmd/sandboxrun/demo"
	"sandboxrun/images"
	"sandboxrun/internal/testenv"
)

// notRun are examples that the test only parses, and why.
var notRun = map[string]string{
	`sandboxrun run "make the tests pass" --check "npm test"`:                                 "needs an agent; TestRunTakesASentence runs one",
	`sandboxrun run "explain the failure in src/total.sh" --file src/total.sh --variant PLAN`: "needs an agent",
	`sandboxrun run "fix the build" --check make --protect "test/**" --time 20m`:              "needs an agent",
	"sandboxrun image build":                                                                 "may take minutes",
	"sandboxrun image build claude codex":                                                    "may take minutes",
	"sandboxrun image build --force":                                                         "takes minutes",
	"sandboxrun image build --base python:3.12 --tag my-python claude":                       "takes minutes, and needs that image; the tests of images build others",
	"sandboxrun image build --base ./Dockerfile --tag my-project claude codex":               "takes minutes",
	"sandboxrun image build --devcontainer . --tag my-project":                               "takes minutes",
	"sandboxrun image rm my-python":                                                          "needs that image",
	"sandboxrun image prune --parts":                                                         "would make every build of this machine slow",
	"sandboxrun execute --session fix-login task.json":                                       "needs a task with an agent",
	"sandboxrun apply --session last":                                                        "needs a session, and so an agent",
	"sandboxrun sessions show SESSION":                                                       "needs a session, and so an agent",
	"sandboxrun sessions show --json SESSION":                                                "needs a session, and so an agent",
	"sandboxrun sessions rm SESSION":                                                         "needs a session, and so an agent",
	"sandboxrun runs cancel RUN":                                                             "needs a live run; the end-to-end tests have one",
	"sandboxrun runs cancel --reason \"wrong base\" RUN":                                     "needs a live run; the end-to-end tests have one",
	"sandboxrun approvals answer --allow --digest 3f9a0c17 RUN a1":                           "needs a run with an agent that asks",
	"sandboxrun approvals answer --deny --reason \"not that file\" --digest 3f9a0c17 RUN a2": "needs a run with an agent that asks",
	"sandboxrun approvals answer --allow --answer colour=blue --digest 3f9a0c17 RUN a3":      "needs a run with an agent that asks",
	"sandboxrun execute --detach task.json":                                                  "the end-to-end tests run it: it outlives this test",
	"sandboxrun execute --server auto task.json":                                             "needs a server; the end-to-end tests have one",
	"sandboxrun demo":                                "TestDemo runs it",
	"sandboxrun demo --scripted":                     "TestDemo runs it",
	"sandboxrun demo --dir /tmp/sandboxrun-demo":     "TestDemo runs it",
	"sandboxrun serve":                               "runs until it is stopped; TestServe runs it",
	"sandboxrun serve --addr 127.0.0.1:8080":         "runs until it is stopped",
	"sandboxrun serve --new-token":                   "runs until it is stopped; TestServe runs it",
	"sandboxrun runs verify --key ci.pub --json RUN": "needs a copy of the public key",
	"sandboxrun open":                                "needs a server; TestServe has one",
	"sandboxrun open --browser":                      "starts a browser",
	"sandboxrun mcp":                                 "answers a client; TestAClientOfMCPRunsATask is one",
	"sandboxrun mcp --max-runtime 7200 --allow-host packages.example.org": "answers a client",
	"sandboxrun mcp --server auto":                                        "needs a server; TestAClientOfMCPUsesAServer has one",
	"sandboxrun doctor":                                                   "its exit code depends on the machine",
	"sandboxrun doctor --json":                                            "its exit code depends on the machine",
	"sandboxrun doctor --self-test":                                       "its exit code depends on the machine",
	"sandboxrun doctor --require-tier runsc":                              "its exit code depends on the machine",
	"sandboxrun plan --agent claude --land none task.json":                "needs a task with an agent",
}

// examples lists every example of every help text, "runs rm" at the end because it removes what others read.
func examples(t *testing.T) []string {
	t.Helper()
	var list, last []string
	var walk func([]*cli.Command)
	walk = func(cmds []*cli.Command) {
		for _, c := range cmds {
			walk(c.Subcommands)
			_, text, found := strings.Cut(c.Description, "Examples:\n")
			if !found {
				if !c.Hidden && len(c.Subcommands) == 0 && c.Name != "version" {
					t.Errorf("%s has no examples", c.Name)
				}
				continue
			}
			for line := range strings.Lines(text) {
				if line = strings.TrimSpace(line); strings.Contains(line, " rm ") {
					last = append(last, line)
				} else {
					list = append(list, line)
				}
			}
		}
	}
	walk(testProgram().app().Commands)
	return append(list, last...)
}

func TestExamplesOfHelpAreRealCommands(t *testing.T) {
	t.Parallel()
	for _, example := range examples(t) {
		command, _, _ := strings.Cut(example, " > ")
		command, _, _ = strings.Cut(command, " < ")
		var out strings.Builder
		p := testProgram()
		p.stdout, p.stderr = &out, &out
		if code := p.run(t.Context(), append(strings.Fields(command), "--help")); code != 0 {
			t.Errorf("%s: exit code %d: %s", example, code, out.String())
		}
	}
}

func TestExamplesOfHelpWork(t *testing.T) {
	t.Parallel()
	testenv.Engine(t, images.Base)
	testenv.Engine(t, images.Name)
	dir := t.TempDir()
	env := append(os.Environ(),
		"HOME="+dir, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "SANDBOXRUN_IMAGE="+images.Base,
		"PATH="+filepath.Dir(staticProgram(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
	shell := func(script string) string {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", script, err, out)
		}
		return string(out)
	}
	if err := demo.MakeRepository(t.Context(), filepath.Join(dir, "repo"), os.DirFS(filepath.Join("testdata", "script"))); err != nil {
		t.Fatal(err)
	}
	task := `{"objective": "make a file", "context": {"repo_root": "` + filepath.Join(dir, "repo") + `"},
		"execution_mode": "command", "suggested_commands": ["echo new > new.txt"]}`
	if err := os.WriteFile(filepath.Join(dir, "task.json"), []byte(task), 0o600); err != nil {
		t.Fatal(err)
	}
	id := regexp.MustCompile(`"run_id": *"([^"]+)"`).FindStringSubmatch(shell("sandboxrun execute --quiet task.json"))
	if id == nil {
		t.Fatal("the first run has no id")
	}
	word := regexp.MustCompile(`\bRUN\b`)
	for _, example := range examples(t) {
		if notRun[example] == "" {
			example = word.ReplaceAllString(example, id[1])
			if strings.Contains(example, "agents check") { // the base image has no agents
				example = "SANDBOXRUN_IMAGE=" + images.Name + " " + example
			}
			if strings.Contains(example, " init ") || strings.Contains(example, " run ") {
				example = "cd repo && " + example
			}
			shell(example)
		}
	}
}

func TestExamplesThatAreNotRunExist(t *testing.T) {
	t.Parallel()
	all := map[string]bool{}
	for _, example := range examples(t) {
		all[example] = true
	}
	for example := range notRun {
		if !all[example] {
			t.Errorf("%q is in no help text", example)
		}
	}
}
