package runner

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/workspace"
	"sandboxrun/internal/step"
	"sandboxrun/runner/document"
	"sandboxrun/runner/state"
	"sandboxrun/sandbox"
)

var stepTree = step.Define("tree/remove")

// trees makes and removes the throwaway trees of a run's boxes.
type trees struct {
	state  *state.State
	run    string       // id
	owner  sandbox.User // of the machine, who must own the trees
	limits sandbox.Limits

	layout  workspace.Layout
	objects *gitdiff.Objects     // nil before phase checkout
	working *workspace.Workspace // tree of the working box
}

// open makes a tree for a box, over the pristine checkout of the commit under.
func (t *trees) open(ctx context.Context, role string, under gitdiff.Commit, tree string) (*workspace.Workspace, error) {
	ws, err := workspace.New(ctx, t.objects, workspace.Spec{
		Dir: t.state.TreeDir(t.run, role), Layout: t.layout, Base: under, Tree: tree, UID: t.owner.UID, GID: t.owner.GID, Growth: t.growth(),
	})
	if err != nil {
		return nil, fmt.Errorf("make %s tree: %w", role, err)
	}
	return ws, nil
}

// close removes a tree.
func (t *trees) close(ws *workspace.Workspace) error {
	step.Before(stepTree)
	err := ws.Close()
	step.After(stepTree)
	if err != nil {
		return &document.CleanupError{What: "tree", Err: err}
	}
	return nil
}

// usedLayout is the layout of the working box's tree, "" where there was none.
func (t *trees) usedLayout() workspace.Layout {
	if t.working == nil {
		return ""
	}
	return t.layout
}

// growth is what the kernel lets a tree grow by, where it can enforce it: a
// little beyond the limit. Work that reaches the limit is stopped with the
// reason; the kernel's bound is for what is written between two measurements.
func (t *trees) growth() workspace.Growth {
	l := t.limits
	return workspace.Growth{Bytes: l.DiskBytes + l.DiskBytes/16 + 16<<20, Files: l.DiskInodes + l.DiskInodes/16 + 1000}
}

// checkFreeSpace refuses to make anything on a disk that is too full already.
func (t *trees) checkFreeSpace() error {
	var s unix.Statfs_t
	dir := t.state.Dir()
	if err := unix.Statfs(dir, &s); err != nil {
		return fmt.Errorf("measure the free space of %s: %w", filepath.Base(dir), err)
	}
	least := t.limits.FreeBytes
	if free := int64(s.Bavail) * s.Bsize; free < least {
		return &sandbox.LimitError{Limit: sandbox.LimitDisk, Which: sandbox.MeasureHostFree, Allowed: least, Measured: free,
			Detail: fmt.Sprintf("the disk of the state directory has %d bytes free, less than the %d it must keep", free, least)}
	}
	return nil
}

// preferredLayout is the overlay where the engine is likely to mount it: on
// this very machine, under Linux, and at a path that mount options can hold.
// Whether it really can shows when it tries.
func preferredLayout(asked workspace.Layout, i sandbox.Info, state string) workspace.Layout {
	if asked != "" {
		return asked
	}
	if runtime.GOOS == "linux" && i.OS == "linux" && !strings.ContainsAny(state, `,:"\`+"\n") {
		return workspace.LayoutOverlay
	}
	return workspace.LayoutCopy
}
