package demo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "sandboxrun/agents/all" // registers the agents
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
)

func TestDemoNamesItsModel(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	for _, tc := range []struct {
		name, key string
		scripted  bool
		want      string
	}{
		{"a key is set", "sk-secret", false, "Model: REAL"},
		{"no key", "", false, "Model: SCRIPTED (no key: "},
		{"a key, and --scripted", "sk-secret", true, "Model: SCRIPTED (--scripted"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			getenv := func(name string) string { return map[string]string{"ANTHROPIC_API_KEY": tc.key}[name] }
			m, err := ChooseModel(cfg, getenv, tc.scripted)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			if !strings.HasPrefix(m.Says, tc.want) || strings.Contains(m.Says, "sk-secret") {
				t.Errorf("says %q, want %q and no key", m.Says, tc.want)
			}
			if _, err := m.Config.Key("anthropic", m.Getenv); err != nil {
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
	if _, err := NewSample(t.Context(), dir); document.ErrorExitCode(err) != document.ExitInput {
		t.Errorf("error %v, want an input error", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("directory was changed: %v, %v", entries, err)
	}
}
