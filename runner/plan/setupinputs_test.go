package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sandboxrun/gitdiff/change"
	"sandboxrun/runner/check"
	"sandboxrun/runner/config"
	"sandboxrun/runner/document"
)

func TestInputsOfSetupAreTheUsualFilesAndThoseItsCommandsName(t *testing.T) {
	t.Parallel()
	for _, p := range setupInputs {
		if why := check.ValidGlob(p); why != "" {
			t.Errorf("%s %s", p, why)
		}
	}
	in := inputsOf(nil, []string{"npm ci --prefix=web", "cd tools && ./scripts/setup.sh 'a b.cfg' && make -C deps all", "sh ../up.sh; /bin/true ~/x https://example.com/y.sh", "bootstrap"})
	for name, want := range map[string]bool{
		"package.json": true, "web/package-lock.json": true, "tools/scripts/setup.sh": true, "scripts/setup.sh": true, "up.sh": true, "deps/Makefile": true,
		"x/rules.mk": true, "bootstrap": true, "src/bootstrap": false, "web": true, "web/src/index.ts": false, "tools/other.sh": false, "deps/all.c": false,
		"bin/true": false, "main.go": false, "b.cfg": true, "src/deep/go.mod": true,
	} {
		got, err := check.NewInputs(in).Touched(t.Context(), []change.Change{{Name: name}})
		if err != nil || (len(got) == 1) != want {
			t.Errorf("%s: found %t, want %t, error %v", name, len(got) == 1, want, err)
		}
	}
	if got := inputsOf([]string{"mine/*", "mine/*"}, []string{"npm ci"}); !slices.Equal(got, []string{"mine/*"}) {
		t.Errorf("a list of the task's own: %q", got)
	}
	if got := inputsOf(nil, nil); got == nil || len(got) > 0 {
		t.Errorf("without setup commands: %q", got)
	}
	if got := inputsOf([]string{}, []string{"npm ci"}); len(got) > 0 {
		t.Errorf("an empty list of the task's own: %q", got)
	}
	if n := len(namedInputs([]string{strings.Repeat("a.b ", 30_000)})); n > maxNamedInputs {
		t.Errorf("%d names", n)
	}
}

// An empty list of hosts is an answer: set-up runs on the captured tree, and reaches nothing.
func TestHostsOfTheVerificationHaveSetupRunOnTheCapturedTree(t *testing.T) {
	t.Parallel()
	for network, want := range map[string]struct {
		tree  SetupTree
		hosts []string
	}{
		`{"allow": ["a.example"]}`:                               {SetupOnBase, []string{}},
		`{"allow": ["a.example"], "verify_allow": []}`:           {SetupOnCaptured, []string{}},
		`{"verify_allow": ["b.example:8443", "b.example:8443"]}`: {SetupOnCaptured, []string{"b.example:8443"}},
	} {
		task, err := document.Decode([]byte(`{"objective": "x", "context": {"repo_root": "/r"}, "execution_mode": "command", "suggested_commands": ["true"],
			"setup_commands": ["npm ci"], "setup_inputs": ["package.json"], "box": {"network": ` + network + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		c := config.Default()
		c.Box.Network.Allow = []string{"config.example"}
		p, err := Compile(task, c, Overrides{AllowHosts: []string{"flag.example"}})
		if err != nil || p.VerifySetup != want.tree || !slices.Equal(p.Box.VerifyAllow, want.hosts) || p.Box.VerifyAllow == nil || !slices.Equal(p.SetupInputs, []string{"package.json"}) {
			t.Errorf("%s: set-up on %s with %q, inputs %q, error %v", network, p.VerifySetup, p.Box.VerifyAllow, p.SetupInputs, err)
		}
	}
	for _, bad := range []string{`"setup_inputs": ["../x"]`, `"setup_inputs": ["a", ""]`, `"box": {"network": {"verify_allow": ["https://x/y"]}}`, `"box": {"network": {"verify_allow": ["10.0.0.1"]}}`} {
		_, err := document.Decode([]byte(`{"objective": "x", "context": {"repo_root": "/r"}, "execution_mode": "command", "suggested_commands": ["true"], ` + bad + `}`))
		field := strings.Split(bad, `"`)[1]
		if err == nil || !strings.Contains(fmt.Sprintf("%+v", err), field) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
