package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/images"
	"sandboxrun/internal/testenv"
	"sandboxrun/runner/document"
)

func TestDemoFixesTheSampleWithTheScriptedModel(t *testing.T) {
	t.Parallel()
	testenv.Engine(t, images.Name)
	home := t.TempDir()
	dir := filepath.Join(home, "sample")
	cmd := exec.CommandContext(t.Context(), staticProgram(t), "demo", "--scripted", "--dir", dir)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("demo: %v\n%s", err, out)
	}
	for _, want := range []string{
		"Model: SCRIPTED", "success", "src/total.sh", "+\tsum=$((sum + number))", "sandboxrun runs show",
		"Sample: a script, its test, and a bug",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("output lacks %q", want)
		}
	}
	var res document.Result
	data, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &res); err != nil {
		t.Fatal(err)
	}
	changed := map[string]string{}
	for _, f := range res.FilesChanged {
		changed[f.Path] = f.ChangeType
	}
	for path, want := range map[string]string{"src/total.sh": "modified", "CHANGELOG.md": "added", "BUGS.md": "deleted"} {
		if changed[path] != want {
			t.Errorf("%s: %q, want %q", path, changed[path], want)
		}
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
}
