package images

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Agent is one agent CLI of the image.
type Agent struct {
	Name     string   // short lower-case name, e.g. "claude"; also names its stage
	Package  string   // npm package
	Version  string   // exact version of Package
	Packages []string // additional npm packages, name@version
	// Script runs as root in sh -eu after npm has installed the packages below $PREFIX, and leaves below $OUT what the
	// image keeps. "" keeps the installed tree and links Binary in /usr/local/bin to the program npm linked. It may
	// contain anything, so it must come from this program.
	Script string
	Binary string // program of Package to put on PATH
}

// AgentLabel and an agent's name form the image label with the version of that agent.
const AgentLabel = "sandboxrun.agent."

// AgentsIn lists the agents that an image holds according to its labels, as name@version by name. Labels come from the
// image: they may name unknown agents, and their text may be anything.
func AgentsIn(labels map[string]string) []string {
	var list []string
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		if name, ok := strings.CutPrefix(label, AgentLabel); ok && labels[label] != "" {
			list = append(list, name+"@"+labels[label])
		}
	}
	return list
}

// Values written into the recipe unquoted: npm's own names and exact versions (no ranges, tags or addresses) contain
// nothing that a shell would expand.
var (
	agentName  = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)
	npmPackage = regexp.MustCompile(`^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*$`)
	npmVersion = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)
	binaryName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
)

// maxScript bounds Script in bytes: the builder reads lines of 64 KiB, and JSON lengthens them.
const maxScript = 16 << 10

// keepTree is the Script of an agent without one. Its link points to the program itself and not to npm's link, so that
// PATH finds the program that runs.
const keepTree = `program=$(readlink -e "$PREFIX/bin/%[1]s")
mkdir -p "$OUT$(dirname "$PREFIX")" "$OUT/usr/local/bin"
ln -s "$program" "$OUT/usr/local/bin/%[1]s"
mv "$PREFIX" "$OUT$PREFIX"`

func (a Agent) check() error {
	for _, v := range []struct {
		what, value string
		form        *regexp.Regexp
	}{
		{"name", a.Name, agentName},
		{"package", a.Package, npmPackage},
		{"version", a.Version, npmVersion},
		{"binary", a.Binary, binaryName},
	} {
		if !v.form.MatchString(v.value) {
			return fmt.Errorf("agent %q: %s %q does not match %s", a.Name, v.what, v.value, v.form)
		}
	}
	for _, p := range a.Packages {
		i := strings.LastIndex(p, "@")
		if i < 0 || !npmPackage.MatchString(p[:i]) || !npmVersion.MatchString(p[i+1:]) {
			return fmt.Errorf("agent %q: %q is not an npm package with an exact version, name@version", a.Name, p)
		}
	}
	if len(a.Script) > maxScript {
		return fmt.Errorf("agent %q: script of %d bytes is longer than %d", a.Name, len(a.Script), maxScript)
	}
	return nil
}

// stage returns the stage that leaves a's part of the image below /out. It depends on a alone.
func (a Agent) stage() string {
	script := a.Script
	if script == "" {
		script = fmt.Sprintf(keepTree, a.Binary)
	}
	packages := append([]string{a.Package + "@" + a.Version}, a.Packages...)
	// ARG lines are not inherited from the npm stage.
	return fmt.Sprintf(`FROM npm AS agent-%[1]s
ARG %[2]s=""
ENV PREFIX=/opt/agents/%[1]s OUT=/out
RUN %[3]s
`, a.Name, registry, execForm(strings.Join([]string{
		`rm -rf "$OUT"`, // the npm stage left Node.js there
		`mkdir "$OUT"`,
		`npm install --global --prefix "$PREFIX" ` + strings.Join(packages, " "),
		`find "$PREFIX" -type f -name '*.map' -delete`, // used only by debuggers
		script,
		`cd /`,
		`rm -rf "$PREFIX" "$NPM_CONFIG_CACHE"`,
	}, "\n")))
}

// copyLine returns the line that copies the result of a's stage into the image.
func (a Agent) copyLine() string {
	return "COPY --from=agent-" + a.Name + " /out/ /\n"
}

// execForm writes a script as the argument of RUN. Only as a JSON string do several lines pass the oldest builder's
// parser unchanged.
func execForm(script string) string { return jsonForm("/bin/sh", "-euc", script) }

// jsonForm writes a command line as the argument of RUN.
func jsonForm(argv ...string) string {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(argv); err != nil {
		panic(err) // strings always encode
	}
	return strings.TrimSuffix(buf.String(), "\n")
}

// registry is the argument, and the host variable, that names the npm registry.
const registry = "NPM_CONFIG_REGISTRY"
