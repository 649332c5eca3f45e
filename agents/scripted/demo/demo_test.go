package demo_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/agents/scripted/demo"
	"sandboxrun/sandbox"
)

// step is the union of the inputs the script's tools take.
type step struct {
	Path    string `json:"file_path"`
	Old     string `json:"old_string"`
	New     string `json:"new_string"`
	Content string `json:"content"`
	Command string `json:"command"`
}

func TestTheScriptMendsTheSample(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, demo.Files()); err != nil {
		t.Fatal(err)
	}
	run := func(command string) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
		cmd.Dir = dir
		return cmd.CombinedOutput()
	}
	if out, err := run(demo.Acceptance); err == nil {
		t.Errorf("the test passes before the job: %s", out)
	}
	scenario, err := demo.Scenario()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scenario.Steps {
		for _, tool := range s.Tools {
			var in step
			if err := json.Unmarshal(tool.Input, &in); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, strings.TrimPrefix(in.Path, sandbox.WorkDir))
			switch tool.Name {
			case "Edit":
				b, err := os.ReadFile(path)
				if err != nil || strings.Count(string(b), in.Old) != 1 {
					t.Fatalf("%s does not hold %q once: %v", in.Path, in.Old, err)
				}
				write(t, path, strings.Replace(string(b), in.Old, in.New, 1))
			case "Write":
				write(t, path, in.Content)
			case "Bash":
				if out, err := run(in.Command); err != nil {
					t.Errorf("%s: %v: %s", in.Command, err, out)
				}
			}
		}
	}
	if out, err := run(demo.Acceptance); err != nil {
		t.Errorf("the test fails after the job: %s", out)
	}
	var names []string
	err = fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if got := strings.Join(names, " "); err != nil || got != "CHANGELOG.md README.md src/total.sh test.sh" {
		t.Errorf("files after the job: %s, %v", got, err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
