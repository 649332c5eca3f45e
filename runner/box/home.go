package box

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"sandboxrun/gitdiff/workspace"
	"sandboxrun/runner/excerpt"
	"sandboxrun/sandbox"
)

// The home directory of a box is in memory and ends with it. What set-up leaves there (tools, settings, caches) is needed in the
// boxes after it: the box packs it into a file of its tree, which becomes a read-only mount of theirs, and each of them
// unpacks a copy for itself. The host moves that file and never reads it. An archive needs no second overlay, so it works in every layout,
// and it does not pass through the output of a command, which has a limit.

// homePath is where a box finds the archive.
const homePath = "/.sandboxrun/home.tar"

// packScript ends what set-up left running, so that nothing writes while the archive is made, and packs the home directory into the file
// named by its argument unless it is empty.
const packScript = `kill -9 -1 2>/dev/null
cd "$HOME" || exit
[ -n "$(ls -A)" ] || exit 0
exec tar -cf "$1" .`

// maxHomeMessage bounds what is kept of the messages of tar, in bytes.
const maxHomeMessage = 4 << 10

// HomeError says that the home directory of set-up could not be packed or unpacked in a box.
type HomeError struct {
	Op, Message string
	Code        int // exit code
}

func (e *HomeError) Error() string {
	return fmt.Sprintf("%s the home directory of set-up: tar exited with %d: %s", e.Op, e.Code, e.Message)
}

// PackHome ends every process of the box and has it pack its home directory into a new file at the root of its tree. name is that
// file's; none is there where the home directory is empty. The error can be a *HomeError.
func (b *Box) PackHome(ctx context.Context) (name string, err error) {
	name = ".sandboxrun-home-" + rand.Text()
	return name, b.tar(ctx, "keep", "/bin/sh", "-c", packScript, "sh", sandbox.WorkDir+"/"+name)
}

// WithHome adds the archive at the host path archive to the mounts of a box, unless that is "".
func WithHome(m workspace.Mount, archive string) workspace.Mount {
	if archive != "" {
		m.Binds = append(m.Binds, workspace.Bind{Source: archive, Target: homePath})
	}
	return m
}

// UnpackHome unpacks the archive of WithHome into the box's own home directory. The error can be a *HomeError.
func (b *Box) UnpackHome(ctx context.Context) error {
	return b.tar(ctx, "restore", "tar", "-C", sandbox.Home, "-xopf", homePath)
}

func (b *Box) tar(ctx context.Context, op string, argv ...string) error {
	var errs bytes.Buffer
	exit, err := b.Exec(ctx, sandbox.Command{Argv: argv, Stderr: &excerpt.CutWriter{To: &errs, Left: maxHomeMessage}})
	if err == nil && exit.Code != 0 {
		return &HomeError{Op: op, Message: excerpt.Clip(strings.TrimSpace(errs.String()), 500), Code: exit.Code}
	}
	return err
}
