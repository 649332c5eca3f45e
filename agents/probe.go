package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sandboxrun/sandbox"
)

// nobody is the host of a probe: it hears nothing and allows nothing.
type nobody struct{}

func (nobody) Emit(Event)                                        {}
func (nobody) Approve(context.Context, ApprovalRequest) Decision { return Decision{} }

// programVersion asks a program for its version, which is the first word of its
// output that begins with a digit.
func programVersion(ctx context.Context, box sandbox.Sandbox, binary string, env []string) (string, error) {
	out, errs := tail{max: stderrKept}, tail{max: stderrKept}
	exit, err := box.Exec(ctx, sandbox.Command{Argv: []string{binary, "--version"}, Env: env, Stdout: &out, Stderr: &errs})
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", binary, err)
	}
	if exit.Code != 0 {
		return "", fmt.Errorf("%s --version: exit code %d: %s", binary, exit.Code, errs.String())
	}
	for word := range strings.FieldsSeq(out.String()) {
		if word[0] >= '0' && word[0] <= '9' {
			return strings.TrimRight(head(word, 64), ".,"), nil
		}
	}
	return "", errors.New(binary + " --version: no version in its output")
}
