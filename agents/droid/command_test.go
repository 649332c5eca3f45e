package droid

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/internal/wire"

	"github.com/google/go-cmp/cmp"
)

func TestDroidEnvHoldsNoKeyAndStaysSilent(t *testing.T) {
	t.Parallel()
	env := environment(agents.Turn{Token: "placeholder", Env: []string{
		"FACTORY_API_KEY=real", "FACTORY_AIRGAP_ENABLED=false", "FACTORY_RUNTIME_SETTINGS_PATH=/x", "HOME=/elsewhere", "MINE=yes",
	}})
	want := []string{
		"FACTORY_AIRGAP_ENABLED=true",
		"FACTORY_DISABLE_DYNAMIC_CONFIG=true",
		"FACTORY_DISABLE_KEYRING=1",
		"FACTORY_DROID_AUTO_UPDATE_ENABLED=false",
		"FACTORY_ORG_MANAGED_SETTINGS_LOCAL_PATH=/home/agent/.factory/organization.json",
		"FACTORY_OTEL_ENABLED=false",
		"HOME=/home/agent",
		"MINE=yes",
		"NO_PROXY=127.0.0.1,localhost,::1",
		"no_proxy=127.0.0.1,localhost,::1",
	}
	if diff := cmp.Diff(want, env); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDroidArgvStartsOutsideOfTheTree(t *testing.T) {
	t.Parallel()
	argv := commandLine("droid", agents.Turn{Args: []string{"--verbose"}})
	want := []string{"sh", "-c", startScript, "droid", "exec", "--verbose", "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"}
	if diff := cmp.Diff(want, argv); diff != "" || !strings.HasPrefix(startScript, "cd / ") {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDroidSettingsPerWire(t *testing.T) {
	t.Parallel()
	for wire, want := range map[wire.Wire]customModel{
		wire.AnthropicMessages: {Provider: "anthropic", BaseURL: "http://h"},
		wire.OpenAIChat:        {Provider: "generic-chat-completion-api", BaseURL: "http://h/v1"},
		wire.OpenAIResponses:   {Provider: "openai", BaseURL: "http://h/v1"},
	} {
		got := modelOf(agents.Turn{Wire: wire, BaseURL: "http://h", Token: "placeholder", Model: "m"})
		want.ID, want.Name, want.Model, want.APIKey = modelID, "m", "m", "placeholder"
		if got != want {
			t.Errorf("%s: %+v, want %+v", wire, got, want)
		}
		if modelOf(agents.Turn{Wire: wire}).Model == "" {
			t.Errorf("%s has no default model", wire)
		}
	}
}

func TestDroidAllowsNoServersButTheTurns(t *testing.T) {
	t.Parallel()
	turn := agents.Turn{MCP: []agents.Server{{Name: "a", Command: "run", Args: []string{"x"}}, {Name: "b", URL: "https://host.example/mcp"}}}
	s := serversOf(turn, "TAG")
	if a := s["a"]; a.Command != "env" || !slices.Equal(a.Args, []string{"SANDBOXRUN_MCP=TAG", "run", "x"}) || s["b"].Type != "http" {
		t.Errorf("servers = %+v", s)
	}
	for _, c := range []struct {
		turn agents.Turn
		want string
	}{{agents.Turn{}, `{"allowlist":[],"enabled":true}`}, {turn, `{"allowlist":["TAG","host.example"],"enabled":true}`}} {
		b, err := json.Marshal(settingsOf(c.turn, "TAG", nil)["mcpPolicy"])
		if err != nil || string(b) != c.want {
			t.Errorf("policy = %s, %v, want %s", b, err, c.want)
		}
	}
}

func TestDroidAutonomyOfATurnThatOnlyPlansIsOff(t *testing.T) {
	t.Parallel()
	high := agents.Settings{"autonomy": []byte(`"high"`)}
	for want, turn := range map[string]agents.Turn{"high": {Settings: high}, "off": {Settings: high, ReadOnly: true}} {
		if got := autonomyOf(turn); got != want {
			t.Errorf("autonomy = %s, want %s", got, want)
		}
	}
	if autonomyOf(agents.Turn{}) != "off" || modeOf(agents.Turn{ReadOnly: true}) != "spec" {
		t.Error("the default asks for everything")
	}
}

func TestDroidFindsEveryStringOfSettings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`{"a":["b","c d"]}`:                    {"a", "b", "c d"},
		"// \" odd\n{\"a\":[\"evil\"]}":        {"a", "evil"},
		`/* "unclosed */ ["evil"]`:             {"evil"},
		`["e\u0076il","q\"q"]`:                 {"evil", `q"q`},
		`["` + strings.Repeat("x", 300) + `"]`: nil,
		`"`:                                    nil,
	} {
		got := settingStrings(text)
		for _, w := range want {
			if !slices.Contains(got, w) {
				t.Errorf("words of %.40s = %q, want %q", text, got, w)
			}
		}
	}
	if got := settingStrings(strings.Repeat(`"\`, maxSettings)); len(got) > maxSettingStrings {
		t.Errorf("%d words", len(got))
	}
}

func TestDroidReadsExitCodesOnlyWhereTheCLISaysThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text    string
		failed  bool
		printed string
		code    int // -1: none
	}{
		{"hi\n\n\n[Process exited with code 0]", false, "hi\n", 0},
		{"Command completed successfully\n\n[Process exited with code 0]", false, "", 0},
		{"Error: Command failed (exit code: 3)\nhi\n\n\n[Process exited with code 3]", true, "hi\n", 3},
		{"Error: Command failed (exit code: 3)\n[Process exited with code 0]", true, "", -1},
		{"[Process exited with code 0]\nhi", false, "", -1},
		{"hi\n[Process exited with code 0]", true, "", -1},
		{"hi\n[Process exited with code 7]", false, "hi", -1},
		{"Error: Tool execution cancelled by user", true, "", -1},
		{"", false, "", -1},
	} {
		printed, code := readCommandResult(c.text, c.failed)
		if printed != c.printed || (code == nil) != (c.code < 0) || code != nil && *code != c.code {
			t.Errorf("%q: printed %q, code %v; want %q, %d", c.text, printed, code, c.printed, c.code)
		}
	}
}
