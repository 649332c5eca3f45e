package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"sandboxrun/agents"
	"sandboxrun/sandbox"
)

// Environment is the environment of a CLI: defaults that a profile may change,
// the profile's own, and over them what may not be changed. HOME and the way to
// the box's own loopback are always among the last.
func Environment(t agents.Turn, defaults, fixed map[string]string, drop ...string) []string {
	env := maps.Clone(defaults)
	if env == nil {
		env = map[string]string{}
	}
	for _, pair := range t.Env {
		if name, value, ok := strings.Cut(pair, "="); ok {
			env[name] = value
		}
	}
	maps.Copy(env, fixed)
	env["HOME"] = sandbox.Home
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		env[name] = "127.0.0.1,localhost,::1"
	}
	for _, name := range drop {
		delete(env, name)
	}
	list := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}

// WriteHome writes one file below the box's HOME, with directories as needed,
// readable by the box's user only. It is for the configuration of a CLI, which
// must be there before it starts and again in every box.
func WriteHome(ctx context.Context, box sandbox.Sandbox, name string, content []byte) error {
	target := path.Join(sandbox.Home, name)
	errs := NewTail(StderrKept)
	exit, err := box.Exec(ctx, sandbox.Command{
		// The names are ours, but are passed as arguments all the same: nothing of them is read as shell.
		Argv:  []string{"sh", "-c", `umask 077 && mkdir -p "$1" && rm -f "$2" && cat >"$2"`, "sh", path.Dir(target), target},
		Stdin: bytes.NewReader(content), Stderr: errs,
	})
	if err != nil {
		return fmt.Errorf("write %s in the box: %w", name, err)
	}
	if exit.Code != 0 {
		return fmt.Errorf("write %s in the box: exit code %d: %s", name, exit.Code, errs.String())
	}
	return nil
}

// NoHost is the host of a probe: it hears nothing and allows nothing.
type NoHost struct{}

// Emit implements agents.Host.
func (NoHost) Emit(agents.Event) {}

// Approve implements agents.Host.
func (NoHost) Approve(context.Context, agents.ApprovalRequest) agents.Decision {
	return agents.Decision{}
}

// ProgramVersion asks a program for its version, which is the first word of its
// output that begins with a digit.
func ProgramVersion(ctx context.Context, box sandbox.Sandbox, binary string, env []string) (string, error) {
	out, errs := NewTail(StderrKept), NewTail(StderrKept)
	exit, err := box.Exec(ctx, sandbox.Command{Argv: []string{binary, "--version"}, Env: env, Stdout: out, Stderr: errs})
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", binary, err)
	}
	if exit.Code != 0 {
		return "", fmt.Errorf("%s --version: exit code %d: %s", binary, exit.Code, errs.String())
	}
	for word := range strings.FieldsSeq(out.String()) {
		if word[0] >= '0' && word[0] <= '9' {
			return strings.TrimRight(Head(word, 64), ".,"), nil
		}
	}
	return "", errors.New(binary + " --version: no version in its output")
}
