package box

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

// Trees makes and removes the throwaway trees of a run's boxes.
type Trees struct {
	State  *state.State
	Run    string       // id
	Owner  sandbox.User // of the machine, who must own the trees
	Limits sandbox.Limits

	Layout  workspace.Layout
	Objects *gitdiff.Objects     // nil before phase checkout
	Working *workspace.Workspace // tree of the working box
}

// Open makes a tree for a box, over the pristine checkout of the commit under.
func (t *Trees) Open(ctx context.Context, role string, under gitdiff.Commit, tree string) (*workspace.Workspace, error) {
	return t.make(ctx, role, workspace.Spec{Base: under, Tree: tree})
}

// OpenOver makes a tree for a box over the files that the box of below left; tree is what the tree of below is to become, "" for no change.
// No box may use below any more.
func (t *Trees) OpenOver(ctx context.Context, role string, below *workspace.Workspace, tree string) (*workspace.Workspace, error) {
	return t.make(ctx, role, workspace.Spec{Over: below, Tree: tree})
}

func (t *Trees) make(ctx context.Context, role string, spec workspace.Spec) (*workspace.Workspace, error) {
	spec.Dir, spec.Layout = t.State.TreeDir(t.Run, role), t.Layout
	spec.UID, spec.GID, spec.Growth = t.Owner.UID, t.Owner.GID, t.growth()
	ws, err := workspace.New(ctx, t.Objects, spec)
	if err != nil {
		return nil, fmt.Errorf("make %s tree: %w", role, err)
	}
	return ws, nil
}

// Close removes a tree.
func (t *Trees) Close(ws *workspace.Workspace) error {
	step.Before(stepTree)
	err := ws.Close()
	step.After(stepTree)
	if err != nil {
		return &document.CleanupError{What: "tree", Err: err}
	}
	return nil
}

// UsedLayout is the layout of the working box's tree, "" where there was none.
func (t *Trees) UsedLayout() workspace.Layout {
	if t.Working == nil {
		return ""
	}
	return t.Layout
}

// growth is what the kernel lets a tree grow by, where it can enforce it: a
// little beyond the limit. Work that reaches the limit is stopped with the
// reason; the kernel's bound is for what is written between two measurements.
func (t *Trees) growth() workspace.Growth {
	l := t.Limits
	return workspace.Growth{Bytes: l.DiskBytes + l.DiskBytes/16 + 16<<20, Files: l.DiskInodes + l.DiskInodes/16 + 1000}
}

// CheckFreeSpace refuses to make anything on a disk that is too full already.
func (t *Trees) CheckFreeSpace() error {
	var s unix.Statfs_t
	dir := t.State.Dir()
	if err := unix.Statfs(dir, &s); err != nil {
		return fmt.Errorf("measure the free space of %s: %w", filepath.Base(dir), err)
	}
	least := t.Limits.FreeBytes
	if free := int64(s.Bavail) * s.Bsize; free < least {
		return &sandbox.LimitError{Limit: sandbox.LimitDisk, Which: sandbox.MeasureHostFree, Allowed: least, Measured: free,
			Detail: fmt.Sprintf("the disk of the state directory has %d bytes free, less than the %d it must keep", free, least)}
	}
	return nil
}

// PreferredLayout is the overlay where the engine is likely to mount it: on
// this very machine, under Linux, and at a path that mount options can hold;
// and where directories can be renamed in it, which agents do all the time.
// Whether it really can shows when it tries.
func PreferredLayout(asked workspace.Layout, i sandbox.Info, state string) workspace.Layout {
	if asked != "" {
		return asked
	}
	if runtime.GOOS == "linux" && i.OS == "linux" && !strings.ContainsAny(state, `,:"\`+"\n") && workspace.CanRename(state) {
		return workspace.LayoutOverlay
	}
	return workspace.LayoutCopy
}
