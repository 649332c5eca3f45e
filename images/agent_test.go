package images

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sample is an agent with everything that must pass the builder's parser.
func sample() Agent {
	return Agent{
		Name: "some-agent", Package: "@scope/cli", Version: "1.2.3-rc.1", Packages: []string{"extra@4.5.6"},
		Script: "if true; then\n\techo \"<$HOME> & \\\"'\" > \"$OUT/x\"\nfi", Binary: "some",
	}
}

func TestStageInstallsAndRunsTheScript(t *testing.T) {
	t.Parallel()
	want := `FROM npm AS agent-some-agent
ARG NPM_CONFIG_REGISTRY=""
ENV PREFIX=/opt/agents/some-agent OUT=/out
RUN ["/bin/sh","-euc","rm -rf \"$OUT\"\nmkdir \"$OUT\"\nnpm install --global --prefix \"$PREFIX\" @scope/cli@1.2.3-rc.1 extra@4.5.6\n` +
		`find \"$PREFIX\" -type f -name '*.map' -delete\n` +
		`if true; then\n\techo \"<$HOME> & \\\"'\" > \"$OUT/x\"\nfi\ncd /\nrm -rf \"$PREFIX\" \"$NPM_CONFIG_CACHE\""]
`
	if diff := cmp.Diff(want, sample().stage()); diff != "" {
		t.Errorf("stage (-want +got):\n%s", diff)
	}
}

func TestStageWithoutAScriptLinksTheProgramNpmLinked(t *testing.T) {
	t.Parallel()
	a := sample()
	a.Script = ""
	for _, want := range []string{
		`program=$(readlink -e \"$PREFIX/bin/some\")`,
		`ln -s \"$program\" \"$OUT/usr/local/bin/some\"`,
		`mv \"$PREFIX\" \"$OUT$PREFIX\"`,
	} {
		if !strings.Contains(a.stage(), want) {
			t.Errorf("the stage lacks %s:\n%s", want, a.stage())
		}
	}
}

func TestCheckRefusesAnAgentTheRecipeCannotHold(t *testing.T) {
	t.Parallel()
	if err := (Build{Agents: []Agent{sample()}}).Check(); err != nil {
		t.Fatalf("the sample is refused: %v", err)
	}
	for name, edit := range map[string]func(*Agent){
		"no name":            func(a *Agent) { a.Name = "" },
		"name of two lines":  func(a *Agent) { a.Name = "x\nRUN evil" },
		"upper-case name":    func(a *Agent) { a.Name = "Some" },
		"no package":         func(a *Agent) { a.Package = "" },
		"package with shell": func(a *Agent) { a.Package = "x;evil" },
		"package as option":  func(a *Agent) { a.Package = "--evil" },
		"package as address": func(a *Agent) { a.Package = "git+ssh://host/x" },
		"no version":         func(a *Agent) { a.Version = "" },
		"range":              func(a *Agent) { a.Version = "^1.2.3" },
		"tag":                func(a *Agent) { a.Version = "latest" },
		"version with shell": func(a *Agent) { a.Version = "1.2.3 $(evil)" },
		"version and line":   func(a *Agent) { a.Version = "1.2.3\n" },
		"no binary":          func(a *Agent) { a.Binary = "" },
		"binary elsewhere":   func(a *Agent) { a.Binary = "../evil" },
		"extra, no version":  func(a *Agent) { a.Packages = []string{"@scope/extra"} },
		"extra with shell":   func(a *Agent) { a.Packages = []string{"extra@1.0.0", "x@1.0.0|evil"} },
		"endless script":     func(a *Agent) { a.Script = strings.Repeat("#", maxScript+1) },
	} {
		a := sample()
		edit(&a)
		b := Build{Agents: []Agent{a}}
		if err := b.Check(); err == nil {
			t.Errorf("%s: Check accepts %+v", name, a)
		}
		if _, err := b.Context(); err == nil {
			t.Errorf("%s: Context accepts what Check refuses", name)
		}
	}
	if err := (Build{Agents: []Agent{sample(), sample()}}).Check(); err == nil {
		t.Error("Check accepts one agent twice")
	}
}
