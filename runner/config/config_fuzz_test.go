package config_test

import (
	"encoding/json"
	"errors"
	"testing"

	"sandboxrun/agents"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
	"sandboxrun/runner/plan"
	"sandboxrun/schemas/closed"
)

// refusedProperly fails the test unless err is an error document's content.
func refusedProperly(t *testing.T, err error) {
	t.Helper()
	var bad *document.InputError
	if !errors.As(err, &bad) || len(bad.Details) == 0 {
		t.Fatalf("refused without details: %v", err)
	}
	doc, kind := document.EncodeError(err)
	if kind != document.ErrorInvalidInput {
		t.Fatalf("type %s", kind)
	}
	if err := closed.Validate("error", doc); err != nil {
		t.Fatal(err)
	}
}

// FuzzConfig holds the reader of configurations to its word: it refuses with
// details, or a task compiles over what it returns to a plan of the schema, or is
// refused with details itself.
func FuzzConfig(f *testing.F) {
	for _, s := range []string{
		``, `null`, `{}`, `{"default_agent":"codex"}`, `{"default_agent":"\u0000"}`, `{"serve":{"repo_roots":["a/../b"],"max_parallel":-1}}`,
		`{"providers":{"anthropic":{"base_url":"http://127.0.0.1:1","key_env":"A"},"~/":{"base_url":":"}}}`,
		`{"providers":{"openai":{"key_file":"/k","use_login":true}}}`,
		`{"box":{"image":"a:b@c","memory":"9999999999999999999g","cpus":1e3,"pids":0,"disk":"-4g","network":{"allow":["*.com","127.0.0.1"]}}}`,
		`{"box":{"memory":"2g","cpus":0.5,"pids":64,"disk":1073741824,"network":{"allow":["proxy.example.com:8443"]}}}`,
		`{"box":{"memory":1,"Memory":2}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := config.Decode(data)
		if err != nil {
			refusedProperly(t, err)
			return
		}
		task, err := document.Decode([]byte(smallTask))
		if err != nil {
			t.Fatal(err)
		}
		plan, err := plan.Compile(task, c.Over(config.Default()), plan.Overrides{})
		if err != nil {
			refusedProperly(t, err)
			return
		}
		doc, err := json.Marshal(plan)
		if err != nil {
			t.Fatal(err)
		}
		if err := closed.Validate("plan", doc); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzProfiles holds that profiles which are accepted can be used: each variant
// they define compiles, or is refused with details.
func FuzzProfiles(f *testing.F) {
	for _, s := range []string{
		``, `{}`, `{"executors":null}`, `{"executors":{"CLAUDE_CODE":{"DEFAULT":{"model":"m","env":{"A":"b"},"approve":"ask"}}}}`,
		`{"executors":{"claude":{"X":{"additional_params":["--a",""],"read_only":true}},"CLAUDE_CODE":{"X":{"plan":true}}}}`,
		`{"executors":{"CODEX":{"HIGH":{"sandbox":"read-only","ask_for_approval":"never","oss":null}}}}`,
		`{"executors":{"codex":{"A":{"mcp_servers":{"s":{"command":"x","args":["y"],"env":{"K":"V"}}}}}}}`,
		`{"executors":{"nobody":{"A":{}},"droid":{"a":{}},"GEMINI":{"A":{"model":3,"nope":1}}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		profiles, err := config.DecodeProfiles(data, "profiles.json")
		if err != nil {
			refusedProperly(t, err)
			return
		}
		c := config.Default()
		c.Profiles = profiles
		for executor, variants := range profiles.User {
			a, ok := agents.Lookup(executor)
			if !ok {
				t.Fatalf("accepted for nobody: %q", executor)
			}
			for variant := range variants {
				task, err := document.Decode([]byte(smallTask))
				if err != nil {
					t.Fatal(err)
				}
				if _, err = plan.Compile(task, c, plan.Overrides{Agent: a.Info().Name, Variant: variant}); err != nil {
					refusedProperly(t, err)
				}
			}
		}
	})
}

const smallTask = `{"objective":"o","instructions":"i","context":{"repo_root":"/r"}}`
