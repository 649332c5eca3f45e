package config

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sandboxrun/internal/wire"
	"sandboxrun/runner/document"
	"sandboxrun/schemas/closed"
)

// environ makes a getenv of a map.
func environ(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func writeConfig(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConfigWithoutAFileIsTheDefault(t *testing.T) {
	t.Parallel()
	got, err := Load(environ(map[string]string{"HOME": t.TempDir()}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Default(), got, cmpopts.IgnoreUnexported(Profiles{})); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	if doc, err := document.Encode(got); err != nil || closed.Validate("config", doc) != nil {
		t.Errorf("the default breaks its schema: %v, %v", err, closed.Validate("config", doc))
	}
}

func TestConfigFileGoesOverDefaultsAndEnvironmentOverBoth(t *testing.T) {
	t.Parallel()
	path := writeConfig(t, `{
	  "$schema": "x", "default_agent": "CLAUDE_CODE",
	  "providers": {"anthropic": {"key_file": "/k"}, "openai": {"base_url": "http://127.0.0.1:1", "key_env": "K"},
	    "mine": {"base_url": "http://mine.example", "key_env": "M", "wires": ["openai-chat"]}},
	  "box": {"image": "a/b:c", "runtime": "runsc", "memory": "1g", "cpus": 0.5, "network": {"allow": ["x.example"], "allow_private": true}},
	  "serve": {"max_parallel": 7, "repo_roots": ["/srv"]}
	}`)
	got, err := Load(environ(map[string]string{
		EnvConfig: path, EnvAgent: "claude", EnvRuntime: "runc", "ANTHROPIC_BASE_URL": "http://gateway.example/a",
		"GOOGLE_GEMINI_BASE_URL": "http://gateway.example/g",
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		DefaultAgent: "claude",
		Providers:    maps.Clone(Default().Providers),
		Box: Box{
			Image: "a/b:c", Runtime: "runc", Memory: 1 << 30, CPUs: 0.5, PIDs: 512, Disk: 4 << 30,
			Network: Network{Allow: []string{"x.example"}, AllowPrivate: true},
		},
		Limits: defaultLimits(),
		Land:   defaultLand(),
		Serve: Serve{Addr: DefaultAddr, MaxParallel: 7, Queue: 1000, QueueWaitSeconds: 240, Retries: 1, OnStop: OnStopLeave,
			RepoRoots: []string{"/srv"}},
	}
	want.Providers["anthropic"] = Provider{BaseURL: "http://gateway.example/a", KeyFile: "/k"}
	want.Providers["openai"] = Provider{BaseURL: "http://127.0.0.1:1", KeyEnv: "K"}
	want.Providers["google"] = Provider{BaseURL: "http://gateway.example/g", KeyEnv: "GEMINI_API_KEY"}
	want.Providers["mine"] = Provider{BaseURL: "http://mine.example", KeyEnv: "M", Wires: []wire.Wire{wire.OpenAIChat}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Profiles{})); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
}

func TestConfigIsFoundByTheXDGRules(t *testing.T) {
	t.Parallel()
	xdg, home := t.TempDir(), t.TempDir()
	for dir, agent := range map[string]string{filepath.Join(xdg, "sandboxrun"): "x", filepath.Join(home, ".config", "sandboxrun"): "h"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"box":{"image":"`+agent+`"}}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		vars map[string]string
		want string
	}{
		{map[string]string{"HOME": home, "XDG_CONFIG_HOME": xdg}, "x"},
		{map[string]string{"HOME": home}, "h"},
		{map[string]string{"HOME": home, "XDG_CONFIG_HOME": "relative"}, "h"},
	}
	for _, tt := range tests {
		got, err := Load(environ(tt.vars))
		if err != nil {
			t.Fatal(err)
		}
		if got.Box.Image != tt.want {
			t.Errorf("with %v: image %q, want %q", tt.vars, got.Box.Image, tt.want)
		}
	}
}

func TestBadConfigIsRefused(t *testing.T) {
	t.Parallel()
	fifo := t.TempDir() // a directory stands for everything that is not a file
	tests := []struct {
		name  string
		vars  map[string]string
		text  string
		wants []string
	}{
		{"unknown and twice", nil, `{"boks":{},"box":{"cpus":1,"cpus":2,"image":"-x"}}`, []string{"/boks", "/box/cpus", "/box/image"}},
		{"urls", nil, `{"providers":{"anthropic":{"base_url":"http://u:p@x"},"openai":{"base_url":"https://x?y=1"},"mine":{}}}`,
			[]string{"/providers/mine/base_url", "/providers/mine/wires", "/providers/anthropic/base_url", "/providers/openai/base_url"}},
		{"providers of one's own", nil, `{"providers":{"Mine":{},"a":{"base_url":"http://a","wires":["telex"]},"b":{"base_url":"http://b","wires":[]},"c":{"wires":["openai-chat"],"use_login":true},
			"github":{"use_login":true},"d":{"base_url":"http://d","wires":["openai-chat","openai-chat"]}}}`,
			[]string{"/providers/Mine", "/providers/a/wires/0", "/providers/b/wires", "/providers/c/base_url", "/providers/c/use_login", "/providers/github/use_login", "/providers/d/wires"}},
		{"semantics", nil, `{"default_agent":"nobody","box":{"memory":"1k","network":{"allow":["*"]}},"serve":{"repo_roots":["/a/../b"]}}`,
			[]string{"/default_agent", "/box/memory", "/box/network/allow/0", "/serve/repo_roots/0"}},
		{"not JSON", nil, `box: {}`, []string{""}},
		{"environment", map[string]string{EnvAgent: "nobody", EnvImage: "-v", EnvRuntime: "a/b", "ANTHROPIC_BASE_URL": "x"}, `{}`, []string{"", "", "", ""}},
		{"named but missing", map[string]string{EnvConfig: "/nonexistent/config.json"}, ``, nil},
		{"named but no file", map[string]string{EnvConfig: fifo}, ``, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			vars := map[string]string{EnvConfig: writeConfig(t, tt.text)}
			maps.Copy(vars, tt.vars)
			_, err := Load(environ(vars))
			var bad *document.InputError
			if !errors.As(err, &bad) {
				t.Fatalf("error = %v, want an InputError", err)
			}
			got := map[string]int{}
			for _, p := range pathsOf(bad.Details) {
				got[p]++
			}
			want := map[string]int{}
			for _, p := range tt.wants {
				want[p]++
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("paths (-want +got):\n%s\n%v", diff, err)
			}
		})
	}
}

func TestStateDirFollowsTheXDGRules(t *testing.T) {
	t.Parallel()
	tests := []struct {
		vars map[string]string
		want string
	}{
		{map[string]string{EnvStateDir: "/s/", "HOME": "/h"}, "/s"},
		{map[string]string{"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/sandboxrun"},
		{map[string]string{"XDG_STATE_HOME": "x", "HOME": "/h"}, "/h/.local/state/sandboxrun"},
		{map[string]string{EnvStateDir: "relative"}, ""},
		{map[string]string{}, ""},
	}
	for _, tt := range tests {
		got, err := StateDir(environ(tt.vars))
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("StateDir(%v) = %q, %v, want %q", tt.vars, got, err, tt.want)
		}
	}
}

func pathsOf(details []document.Detail) (list []string) {
	for _, d := range details {
		list = append(list, d.Path)
	}
	return list
}
