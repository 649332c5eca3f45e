package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/images"
	"sandboxrun/runner"
)

func TestDemoMendsTheSampleWithTheScriptedModel(t *testing.T) {
	t.Parallel()
	needEngine(t, images.Name)
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
	var res runner.Result
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

func TestDemoSaysWhichModelItUses(t *testing.T) {
	t.Parallel()
	cfg := runner.DefaultConfig()
	for _, tc := range []struct {
		name, key string
		scripted  bool
		want      string
	}{
		{"a key is set", "sk-secret", false, "Model: REAL"},
		{"no key", "", false, "Model: SCRIPTED (no key: "},
		{"a key, and the script asked for", "sk-secret", true, "Model: SCRIPTED (--scripted"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			getenv := func(name string) string { return map[string]string{"ANTHROPIC_API_KEY": tc.key}[name] }
			m, err := chooseModel(cfg, getenv, tc.scripted)
			if err != nil {
				t.Fatal(err)
			}
			defer m.close()
			if !strings.HasPrefix(m.says, tc.want) || strings.Contains(m.says, "sk-secret") {
				t.Errorf("says %q, want %q and no key", m.says, tc.want)
			}
			if _, err := m.config.Key("anthropic", m.getenv); err != nil {
				t.Errorf("no key for the agent: %v", err)
			}
		})
	}
	if cfg.Providers["anthropic"].KeyEnv != "ANTHROPIC_API_KEY" {
		t.Error("choosing a model changed the configuration it was given")
	}
}

func TestDemoRefusesADirectoryThatIsNotEmpty(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "precious"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := newSample(t.Context(), dir); runner.ErrorExitCode(err) != runner.ExitInput {
		t.Errorf("error %v, want an input error", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("directory was touched: %v, %v", entries, err)
	}
}
