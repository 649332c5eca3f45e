package gitdiff

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"

	"sandboxrun/gitdiff/quota"
	"sandboxrun/runner/step"
)

// Layout says how a workspace reaches the box.
type Layout string

const (
	// LayoutOverlay is an upper directory over the shared pristine base, mounted by the engine as an overlay.
	LayoutOverlay Layout = "overlay"
	// LayoutCopy is a plain directory holding every file, for engines that cannot mount an overlay over a host path.
	LayoutCopy Layout = "copy"
)

// Growth is what may come to a tree, see [quota.Growth].
type Growth = quota.Growth

// WorkspaceSpec describes one throwaway tree.
type WorkspaceSpec struct {
	Dir      string // private directory of this workspace, absolute; made here, must not exist or be empty
	Layout   Layout // how it reaches the box
	Base     Commit // the recorded base commit
	Tree     string // hex id of the tree to materialise over the base; empty means Base.Tree
	UID, GID int    // numeric owner of the files inside the box; without privilege they must be the runner's own
	// Growth is what the tree may grow by at most where the file system can be told, zero for any growth. Whoever needs a
	// bound everywhere has to watch the tree.
	Growth Growth
}

// Bind is a directory of the host to mount read-only in the box.
type Bind struct{ Source, Target string }

// Mount is what an engine needs to put a workspace into a box.
type Mount struct {
	Lower       []string // overlay: the lower directories, topmost first
	Upper, Work string   // overlay: the upper and work directories; options besides these: userxattr alone
	Dir         string   // copy: the directory to bind read-write
	Binds       []Bind   // both: further read-only binds
}

// Workspace is one throwaway tree: made over a base, given to a box, captured, removed.
type Workspace struct {
	objects  *Objects
	spec     WorkspaceSpec
	layout   Layout
	baseTree plumbing.Hash
	root     string     // the directory the box writes to: the upper directory, or the copy
	lower    string     // the base's pristine files, trusted
	stat     *statCache // copy layout only: what every file of the base looked like when it was made
	base     *base      // held until Close
}

// Workspace makes a throwaway tree, and the base it lies over where that is not there yet. The tree has a private .git
// with one commit holding Base.Tree; with another Tree, the difference shows there as uncommitted changes.
//
// The error can be a [*TreeError], a [*MissingObjectError], ctx's, or one of the file system; nothing is left of the
// workspace then.
func (o *Objects) Workspace(ctx context.Context, spec WorkspaceSpec) (*Workspace, error) {
	w, err := o.workspace(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("make workspace: %w", err)
	}
	return w, nil
}

func (o *Objects) workspace(ctx context.Context, spec WorkspaceSpec) (*Workspace, error) {
	if spec.Tree == "" {
		spec.Tree = spec.Base.Tree
	}
	tree, err := parseID(spec.Tree)
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(spec.Dir) {
		return nil, fmt.Errorf("%q is not an absolute path", spec.Dir)
	}
	b, err := o.base(ctx, spec.Base, owner{spec.UID, spec.GID})
	if err != nil {
		return nil, err
	}
	w := &Workspace{objects: o, spec: spec, layout: spec.Layout, baseTree: plumbing.NewHash(b.Tree), lower: b.treeDir(), base: b}
	bounded := false
	err = step.Do(ctx, StepTreeMake, spec.Dir, func() error {
		if err := makePrivate(spec.Dir); err != nil || spec.Growth == (Growth{}) {
			return err
		}
		bounded = quota.Begin(spec.Dir) == nil // else there is none: doctor says why
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, b.release()) // what is there is not ours to remove
	}
	err = step.Do(ctx, StepTreeFill, spec.Dir, func() error {
		err := w.fill(ctx, tree)
		if err == nil && bounded {
			err = quota.Limit(spec.Dir, spec.Growth)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// makePrivate makes a directory for the runner alone, or takes an empty one.
func makePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s is not empty", dir)
	}
	return os.Chmod(dir, 0o700)
}

// fill makes the files of the workspace.
func (w *Workspace) fill(ctx context.Context, tree plumbing.Hash) error {
	own := owner{w.spec.UID, w.spec.GID}
	switch w.layout {
	case LayoutOverlay:
		w.root = filepath.Join(w.spec.Dir, "upper")
		if err := makeOverlay(ctx, w, tree, own); err != nil {
			return err
		}
	case LayoutCopy:
		w.root = filepath.Join(w.spec.Dir, "tree")
		if err := makeCopy(ctx, w, tree, own); err != nil {
			return err
		}
	default:
		return fmt.Errorf("unknown layout %q", w.layout)
	}
	return privateGit(filepath.Join(w.root, ".git"), w.base, own)
}

// Mount says how to put the workspace into a box.
func (w *Workspace) Mount() Mount {
	m := Mount{Binds: []Bind{{Source: w.base.objectsDir(), Target: BaseObjects}}}
	if w.layout == LayoutCopy {
		m.Dir = w.root
		return m
	}
	m.Lower, m.Upper, m.Work = []string{w.lower}, w.root, w.workDir()
	return m
}

func (w *Workspace) workDir() string { return filepath.Join(w.spec.Dir, "work") }

// WatchDir is the directory that grows while the box works.
func (w *Workspace) WatchDir() string { return w.root }

// Close removes everything of the workspace and lets go of its base. The box must be gone. It may be called again, also
// to try once more after an error.
func (w *Workspace) Close() error {
	if err := w.objects.store.RemoveWorkspaces(w.spec.Dir); err != nil {
		return fmt.Errorf("close workspace: %w", err)
	}
	if w.base == nil {
		return nil
	}
	err := w.base.release()
	w.base = nil
	if err != nil {
		return fmt.Errorf("close workspace: %w", err)
	}
	return nil
}
