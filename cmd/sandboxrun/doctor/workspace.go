package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"sandboxrun/cmd/sandboxrun/guest"
	"sandboxrun/gitdiff/workspace"
	"sandboxrun/runner/box"
	"sandboxrun/sandbox"
)

// trialGuest is the path of this program in the trial box.
const trialGuest = "/.sandboxrun/guest"

// closeBound is how long the removal of the trial box may take.
const closeBound = 10 * time.Second

// checkWorkspace opens one small box on an overlay and writes a file in it, because no report of an engine shows
// whether it can mount one.
func checkWorkspace(ctx context.Context, x *Examination) Finding {
	if x.StateErr != nil || x.ConfigErr != nil {
		return Caution("", "not tried: no state directory or no configuration")
	}
	image := x.Config.Box.Image
	if _, err := x.Engine.Image(ctx, image); err != nil {
		return Caution("sandboxrun image build", "not tried: %v", err)
	}
	binary, err := guest.Binary()
	if err != nil {
		return Fail("make build", "not tried: %v", err)
	}
	dir, err := os.MkdirTemp(x.State.Dir(), "doctor-")
	if err != nil {
		return Fail("", "%v", err)
	}
	if !workspace.CanRename(x.State.Dir()) {
		if err := os.RemoveAll(dir); err != nil {
			return Fail("", "%v", err)
		}
		return Caution("tasks on large repositories start slower; results are the same. A runner of root's uses overlays",
			"copy: every task gets a full copy of its tree, because only root can read what an overlay notes of a renamed directory")
	}
	took, err := trial(ctx, x, image, binary, dir)
	if rerr := os.RemoveAll(dir); err == nil {
		err = rerr
	}
	switch {
	case errors.Is(err, sandbox.ErrOverlayUnsupported):
		return Caution("tasks on large repositories start slower; results are the same",
			"copy: every task gets a full copy of its tree, because this engine mounts no overlay here (%v)", err)
	case err != nil:
		return Fail("see \"sandboxrun doctor --json\" and the engine's log", "a small box did not work: %v", err)
	}
	return Pass("overlay: a box was opened, renamed a directory of its base, and was removed in %.1f s", took.Seconds())
}

// trial opens a box on an overlay in dir, has it rename a directory of the lower layer and write a file there, and looks for the file in
// the upper layer.
func trial(ctx context.Context, x *Examination, image, binary, dir string) (took time.Duration, err error) {
	began := time.Now()
	owner, err := box.TreeUser(x.info)
	if err != nil {
		return 0, err
	}
	layer := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"lower", "upper", "work", "lower/old"} {
		if err := errors.Join(os.Mkdir(layer(name), 0o700), os.Chown(layer(name), owner.UID, owner.GID)); err != nil {
			return 0, err
		}
	}
	box, err := x.Engine.Open(ctx, sandbox.Spec{
		Owner: x.State.Owner(fmt.Sprintf("doctor%d", os.Getpid())), Role: "trial", Image: image,
		Runtime: x.Config.Box.Runtime, User: box.User(),
		Tree:  sandbox.Tree{Lower: []string{layer("lower")}, Upper: layer("upper"), Work: layer("work"), RenameDirs: true},
		Binds: []sandbox.Bind{{Source: binary, Target: trialGuest}},
		Guest: []string{trialGuest, guest.Command},
	})
	if err != nil {
		return 0, err
	}
	defer func() {
		cctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeBound)
		defer cancel()
		err = errors.Join(err, box.Close(cctx))
	}()
	var stderr bytes.Buffer
	exit, err := box.Exec(ctx, sandbox.Command{
		Argv: []string{"/bin/sh", "-c", "mv -T old new && echo written > new/file && cat new/file"}, Stderr: &stderr,
	})
	if err != nil {
		return 0, err
	}
	if exit.Code != 0 {
		return 0, fmt.Errorf("renaming a directory and writing a file in the box exited with %d: %.200s", exit.Code, stderr.String())
	}
	if _, err := os.Stat(filepath.Join(layer("upper"), "new", "file")); err != nil {
		return 0, fmt.Errorf("a file written in the box did not arrive in its layer: %w", err)
	}
	return time.Since(began), nil
}
