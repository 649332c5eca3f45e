package agents

import (
	"bytes"
	"context"
	"fmt"
	"path"

	"sandboxrun/sandbox"
)

// writeHome writes one file below the box's HOME, with directories as needed,
// readable by the box's user only. It is for the configuration of a CLI, which
// must be there before it starts and again in every box.
func writeHome(ctx context.Context, box sandbox.Sandbox, name string, content []byte) error {
	target := path.Join(sandbox.Home, name)
	var errs tail
	errs.max = stderrKept
	exit, err := box.Exec(ctx, sandbox.Command{
		// The names are ours, but are passed as arguments all the same: nothing of them is read as shell.
		Argv:  []string{"sh", "-c", `umask 077 && mkdir -p "$1" && rm -f "$2" && cat >"$2"`, "sh", path.Dir(target), target},
		Stdin: bytes.NewReader(content), Stderr: &errs,
	})
	if err != nil {
		return fmt.Errorf("write %s in the box: %w", name, err)
	}
	if exit.Code != 0 {
		return fmt.Errorf("write %s in the box: exit code %d: %s", name, exit.Code, errs.String())
	}
	return nil
}
