// Package workspace makes throwaway trees for boxes and removes them: a base per commit that is checked out once and shared,
// and over it an upper layer, or a plain copy, per box.
package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/sys/unix"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/capture"
	"sandboxrun/gitdiff/gitobj"
	"sandboxrun/gitdiff/quota"
	"sandboxrun/internal/step"
)

// Layout says how a workspace reaches the box.
type Layout string

const (
	// LayoutOverlay is an upper directory over the shared pristine base, mounted by the engine as an overlay.
	LayoutOverlay Layout = "overlay"
	// LayoutCopy is a plain directory holding every file, for engines that cannot mount an overlay over a host path.
	LayoutCopy Layout = "copy"
)

// Growth bounds what may be added to a tree, see [quota.Growth].
type Growth = quota.Growth

// Spec describes one throwaway tree.
type Spec struct {
	Dir      string         // private directory of this workspace, absolute; made here, must not exist or be empty
	Layout   Layout         // how it reaches the box
	Base     gitdiff.Commit // the recorded base commit
	Tree     string         // hex id of the tree to materialise over the base; empty means Base.Tree
	UID, GID int            // numeric owner of the files inside the box; without privilege they must be the runner's own
	// Over is a workspace of the same store and layout whose files lie below this one's, nil for none. No box may use it any more,
	// and it must outlive this one. Base is its base then, and Tree is what its own tree is to become: only what differs
	// between both is put over its files, so that all else in it, ignored files included, stays as its box left it.
	Over *Workspace
	// Growth is the most that the tree may grow where the file system has project quotas; zero for any growth. A caller that needs a
	// bound everywhere has to watch the tree.
	Growth Growth
}

// Bind is a directory of the host to mount read-only in the box.
type Bind struct{ Source, Target string }

// Mount is what an engine needs to put a workspace into a box.
type Mount struct {
	Lower       []string // overlay: the lower directories, topmost first
	Upper, Work string   // overlay: the upper and work directories
	// RenameDirs says that the overlay is to be mounted with redirect_dir=on instead of userxattr, so that directories of Lower can be
	// renamed. Only root can read the marks of such a layer.
	RenameDirs bool
	Dir        string // copy: the directory to bind read-write
	Binds      []Bind // both: further read-only binds
}

// Workspace is one throwaway tree: made over a base, given to a box, captured, removed.
type Workspace struct {
	objects  *gitdiff.Objects
	spec     Spec
	layout   Layout
	baseTree plumbing.Hash  // of what lies below: the base, or the workspace that this one lies over
	marks    capture.Marks  // of the upper layer
	root     string         // the directory the box writes to: the upper directory, or the copy
	stat     *capture.Stats // copy layout only: what every file of the base looked like when it was made
	base     *base
	held     bool // the base is held for this workspace, until Close
}

// New makes a throwaway tree, and the base it lies over where that is not there yet. The tree has a private .git
// with one commit holding Base.Tree; with another Tree, the difference shows there as uncommitted changes. One over another
// workspace has the .git of that one.
//
// The error can be a [*gitobj.TreeError], a [*gitobj.MissingError], ctx's, or one of the file system; nothing is left of the
// workspace then.
func New(ctx context.Context, o *gitdiff.Objects, spec Spec) (*Workspace, error) {
	w, err := build(ctx, o, spec)
	if err != nil {
		return nil, fmt.Errorf("make workspace: %w", err)
	}
	return w, nil
}

func build(ctx context.Context, o *gitdiff.Objects, spec Spec) (*Workspace, error) {
	over := spec.Over
	if over != nil {
		spec.Base = over.spec.Base
		spec.Tree = cmp.Or(spec.Tree, over.spec.Tree)
	}
	spec.Tree = cmp.Or(spec.Tree, spec.Base.Tree)
	tree, err := gitobj.ParseID(spec.Tree)
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(spec.Dir) {
		return nil, fmt.Errorf("%q is not an absolute path", spec.Dir)
	}
	if over != nil && over.layout != spec.Layout {
		return nil, fmt.Errorf("layout %s over layout %s", spec.Layout, over.layout)
	}
	w, err := begin(ctx, o, spec)
	if err != nil {
		return nil, err
	}
	step.Before(StepTreeMake)
	err = makePrivate(spec.Dir)
	bounded := err == nil && spec.Growth != (Growth{}) && quota.Begin(spec.Dir) == nil // where there is none, doctor says why
	step.After(StepTreeMake)
	if err != nil {
		return nil, errors.Join(err, w.release()) // what is there is not ours to remove
	}
	step.Before(StepTreeFill)
	err = w.fill(ctx, tree)
	if err == nil && bounded {
		err = quota.Limit(spec.Dir, spec.Growth)
	}
	step.After(StepTreeFill)
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// begin is a workspace without files, over a base that it holds or over the base that the one below it holds.
func begin(ctx context.Context, o *gitdiff.Objects, spec Spec) (*Workspace, error) {
	w := &Workspace{objects: o, spec: spec, layout: spec.Layout}
	if spec.Over != nil {
		w.base, w.baseTree = spec.Over.base, plumbing.NewHash(spec.Over.spec.Tree)
		return w, nil
	}
	b, err := openBase(ctx, o, spec.Base, owner{spec.UID, spec.GID})
	if err != nil {
		return nil, err
	}
	w.base, w.held, w.baseTree = b, true, plumbing.NewHash(b.Tree)
	return w, nil
}

// release ends the use of the base.
func (w *Workspace) release() error {
	if !w.held {
		return nil
	}
	w.held = false
	return w.base.release()
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
	if w.spec.Over != nil {
		return nil // its repository shows through, or was copied
	}
	return privateGit(filepath.Join(w.root, ".git"), w.base, own)
}

// lower lists the directories that show through an upper layer, topmost first.
func (w *Workspace) lower() []string {
	if w.spec.Over == nil {
		return []string{w.base.treeDir()}
	}
	return append([]string{w.spec.Over.root}, w.spec.Over.lower()...)
}

// Mount describes how the workspace is mounted in a box.
func (w *Workspace) Mount() Mount {
	m := Mount{Binds: []Bind{{Source: w.base.objectsDir(), Target: BaseObjects}}}
	if w.layout == LayoutCopy {
		m.Dir = w.root
		return m
	}
	m.Lower, m.Upper, m.Work = w.lower(), w.root, w.workDir()
	m.RenameDirs = w.marks == capture.TrustedMarks
	return m
}

func (w *Workspace) workDir() string { return filepath.Join(w.spec.Dir, "work") }

// WatchDir is the directory that grows while the box works.
func (w *Workspace) WatchDir() string { return w.root }

// TakeFile moves a regular file that the box made at the root of its tree out of the tree and returns its path, "" when there is none
// of that name. The box must be gone. The file stays the box's own content, and is removed with the workspace.
func (w *Workspace) TakeFile(name string) (path string, err error) {
	from, to := filepath.Join(w.root, name), filepath.Join(w.spec.Dir, "taken")
	if name != filepath.Base(name) {
		return "", fmt.Errorf("take %q from a workspace: not a name", name)
	}
	info, err := os.Lstat(from)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err == nil {
		err = os.Rename(from, to)
	}
	if err != nil {
		return "", fmt.Errorf("take %q from a workspace: %w", name, err)
	}
	return to, nil
}

// maxHeld bounds the files that Holds reads, in bytes.
const maxHeld = 64 << 20

// Holds says whether the box made a regular file at a path, relative to the root, whose content is the blob with this id. The box must be
// gone. A path that leads out of the tree, or a larger file than any manifest, is not held.
func (w *Workspace) Holds(ctx context.Context, path, id string) (bool, error) {
	root, err := os.OpenRoot(w.root)
	if err != nil {
		return false, fmt.Errorf("compare a file of a workspace: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing was written
	f, err := root.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return false, nil // whatever is there, it is not that file
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxHeld || ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	hash := plumbing.NewHasher(plumbing.BlobObject, info.Size())
	if _, err := io.Copy(hash, io.LimitReader(f, info.Size())); err != nil {
		return false, nil // likewise
	}
	return hash.Sum().String() == id, nil
}

// Close removes everything of the workspace and releases its base. The box must be gone. It may be called again, also
// to try once more after an error.
func (w *Workspace) Close() error {
	if err := Remove(w.objects.Store(), w.spec.Dir); err != nil {
		return fmt.Errorf("close workspace: %w", err)
	}
	if err := w.release(); err != nil {
		return fmt.Errorf("close workspace: %w", err)
	}
	return nil
}

// Steps of making a tree.
var (
	StepTreeMake = step.Define("tree/make")
	StepTreeFill = step.Define("tree/fill")
)
