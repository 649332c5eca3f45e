package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/agents"
	"sandboxrun/runner/document"
)

func claudeInfo(t *testing.T) agents.Info {
	t.Helper()
	a, ok := agents.Lookup("claude")
	if !ok {
		t.Fatal("claude is not registered")
	}
	return a.Info()
}

func userProfiles(t *testing.T, doc string) Profiles {
	t.Helper()
	p, err := DecodeProfiles([]byte(doc), "/etc/profiles.json")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestEveryAgentHasTheBuiltInVariants(t *testing.T) {
	t.Parallel()
	for _, a := range agents.All() {
		info := a.Info()
		variants := Profiles{}.Variants(info)
		for _, want := range []string{VariantDefault, VariantPlan, VariantSupervised} {
			if !slices.Contains(variants, want) {
				t.Errorf("%s has %v, not %s", info.Name, variants, want)
			}
		}
		for _, v := range variants {
			for name, field := range builtIn(info)[v] {
				if why := fieldProblem(info, name, field.Value); why != "" {
					t.Errorf("%s %s: %s %s", info.Name, v, name, why)
				}
			}
		}
		plan, err := Profiles{}.Profile(info, VariantPlan)
		if err != nil || !plan.ReadOnly {
			t.Errorf("%s PLAN = %+v, %v, want read-only", info.Name, plan, err)
		}
		supervised, err := Profiles{}.Profile(info, VariantSupervised)
		if err != nil || supervised.Approve != document.ApproveAsk {
			t.Errorf("%s SUPERVISED = %+v, %v, want ask", info.Name, supervised, err)
		}
	}
}

func TestUserProfilesGoOverTheBuiltInFieldByField(t *testing.T) {
	t.Parallel()
	info := claudeInfo(t)
	p := userProfiles(t, `{"executors":{
		"claude":{"PLAN":{"model":"opus","append_prompt":"Be brief."}},
		"CLAUDE_CODE":{"MINE":{"env":{"A":"b"},"additional_params":["--x"],"mcp_servers":{"s":{"command":"srv","args":["-v"]}}}}}}`)
	if got := p.Variants(info); !slices.Contains(got, "MINE") || got[0] != VariantDefault {
		t.Errorf("variants = %v", got)
	}
	plan, err := p.Profile(info, VariantPlan)
	if err != nil || !plan.ReadOnly || plan.Model != "opus" || plan.AppendPrompt != "Be brief." {
		t.Errorf("PLAN = %+v, %v", plan, err)
	}
	fields, known := p.Fields(info, VariantPlan)
	var origins []string
	for _, f := range fields {
		origins = append(origins, f.Name+" "+f.Origin)
	}
	if d := cmp.Diff([]string{"append_prompt /etc/profiles.json", "model /etc/profiles.json", "read_only built-in"}, origins); d != "" || !known {
		t.Errorf("origins:\n%s", d)
	}
	mine, err := p.Profile(info, "MINE")
	if err != nil || mine.Env["A"] != "b" || mine.MCPServers["s"].Command != "srv" || mine.ReadOnly {
		t.Errorf("MINE = %+v, %v", mine, err)
	}
	if _, err := p.Profile(info, "NOBODY"); err == nil || !strings.Contains(err.Error(), "DEFAULT, MINE, PLAN") {
		t.Errorf("unknown variant: %v, want the known ones", err)
	}
}

func TestProfilesListEveryProblemWithItsPointer(t *testing.T) {
	t.Parallel()
	_, err := DecodeProfiles([]byte(`{"executors":{
		"NOBODY":{"DEFAULT":{}},
		"CLAUDE_CODE":{"low":{},"DEFAULT":{"nonsense":1,"model":"-x","read_only":"yes","approve":"maybe","env":{"ANTHROPIC_API_KEY":"x"},
			"mcp_servers":{"s":{}}}}}}`), "p.json")
	var bad *document.InputError
	if !errors.As(err, &bad) {
		t.Fatalf("error = %v", err)
	}
	var got []string
	for _, d := range bad.Details {
		got = append(got, d.Path)
	}
	slices.Sort(got)
	want := []string{
		"/executors/CLAUDE_CODE/DEFAULT/approve", "/executors/CLAUDE_CODE/DEFAULT/env", "/executors/CLAUDE_CODE/DEFAULT/mcp_servers",
		"/executors/CLAUDE_CODE/DEFAULT/model", "/executors/CLAUDE_CODE/DEFAULT/nonsense", "/executors/CLAUDE_CODE/DEFAULT/read_only",
		"/executors/CLAUDE_CODE/low", "/executors/NOBODY",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("problems (-want +got):\n%s", d)
	}
	for _, doc := range []string{`{"executors":{},"x":1}`, `{"executors":[]}`, `{"executors":{"A":{},"A":{}}}`, `{} {}`, `{"executors":{"CLAUDE_CODE":{"DEFAULT":3}}}`} {
		if _, err := DecodeProfiles([]byte(doc), "p.json"); err == nil {
			t.Errorf("%s was read", doc)
		}
	}
}

// Every adapter puts the profile's arguments before its own.
func TestNoAgentTakesTheEndOfOptionsFromAProfile(t *testing.T) {
	t.Parallel()
	for _, a := range agents.All() {
		executor := a.Info().Executor
		_, err := DecodeProfiles([]byte(`{"executors":{"`+executor+`":{"MINE":{"additional_params":["--verbose","--"]}}}}`), "p.json")
		var bad *document.InputError
		if !errors.As(err, &bad) || len(bad.Details) != 1 || bad.Details[0].Path != "/executors/"+executor+"/MINE/additional_params" ||
			!strings.Contains(bad.Details[0].Message, "item 1") {
			t.Errorf("%s: %v, want a problem of additional_params", a.Info().Name, err)
		}
		if _, err := DecodeProfiles([]byte(`{"executors":{"`+executor+`":{"MINE":{"additional_params":["--verbose","--x=--"]}}}}`), "p.json"); err != nil {
			t.Errorf("%s: %v", a.Info().Name, err)
		}
	}
}

func TestConfigurationReadsTheProfilesBesideIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sandboxrun"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "sandboxrun", "profiles.json")
	if err := os.WriteFile(path, []byte(`{"executors":{"CLAUDE_CODE":{"DEFAULT":{"model":"haiku"}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": dir, "XDG_CONFIG_HOME": dir}
	cfg, err := Load(func(n string) string { return env[n] })
	if err != nil {
		t.Fatal(err)
	}
	if p, err := cfg.Profiles.Profile(claudeInfo(t), VariantDefault); err != nil || p.Model != "haiku" {
		t.Errorf("profile = %+v, %v", p, err)
	}
	env[EnvProfiles] = filepath.Join(dir, "nothing.json")
	if _, err := Load(func(n string) string { return env[n] }); err == nil {
		t.Error("a named file that is not there is no error")
	}
}
