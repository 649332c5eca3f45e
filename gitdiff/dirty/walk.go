package dirty

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitname"
	"sandboxrun/gitdiff/ignore"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"
	"golang.org/x/sys/unix"
)

// Bounds of a walk over a user's work tree.
const (
	maxWorkEntries = 4_000_000 // names inspected
	maxWorkDepth   = 500       // directories below one another
)

// workVisitor receives what a work tree holds. The methods mirror what can be the case for one path: a fifth kind of
// state would be a fifth method, and both visitors need all of them.
type workVisitor interface {
	same(e *index.Entry) error                 // not to be read: its stat is the index's, or it is a submodule, or sparse
	gone(e *index.Entry) error                 // not there
	tracked(e *index.Entry, f *workFile) error // to be read
	untracked(f *workFile) error               // not ignored either
	nested(path string) error                  // an untracked directory with a repository of its own
}

// workWalk walks a user's work tree relative to open directories, without following a link.
type workWalk struct {
	idx   *workIndex
	visit workVisitor
	seen  map[string]bool
	left  int   // names that may still be inspected
	bytes int64 // that may still be read
}

func walkWorkTree(ctx context.Context, r *gitdiff.Repo, idx *workIndex, v workVisitor) error {
	rules, err := userIgnores(r)
	if err != nil {
		return err
	}
	w := &workWalk{idx: idx, visit: v, seen: make(map[string]bool, len(idx.entries)), left: maxWorkEntries, bytes: maxWorkBytes}
	root, err := os.OpenFile(r.Root(), os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	if err := w.dir(ctx, root, "", 0, rules); err != nil {
		return err
	}
	for name, e := range idx.entries {
		switch {
		case w.seen[name]:
		case e.SkipWorktree || e.Mode == filemode.Submodule:
			err = v.same(e)
		default:
			err = v.gone(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dir walks an open directory and closes it; prefix is "" or ends with a slash.
func (w *workWalk) dir(ctx context.Context, dir *os.File, prefix string, depth int, rules *ignore.Rules) (err error) {
	defer func() { err = errors.Join(err, dir.Close()) }()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	names, err := dir.Readdirnames(w.left + 1)
	if len(names) > w.left || depth > maxWorkDepth {
		return &unknown{fmt.Sprintf("it has more than %d names or %d levels", maxWorkEntries, maxWorkDepth)}
	}
	if err != nil && len(names) > 0 {
		return fmt.Errorf("%q: %w", prefix, err)
	}
	w.left -= len(names)
	slices.Sort(names)
	if slices.Contains(names, ignore.File) {
		if rules, err = ignoreFileOf(rules, int(dir.Fd()), prefix); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := w.name(ctx, dir, prefix, name, depth, rules); err != nil {
			return err
		}
	}
	return nil
}

// name inspects one entry of an open directory.
func (w *workWalk) name(ctx context.Context, dir *os.File, prefix, name string, depth int, rules *ignore.Rules) error {
	if name == ".git" {
		return nil
	}
	path := prefix + name
	var st unix.Stat_t
	if err := unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		if errors.Is(err, unix.ENOENT) {
			return nil // deleted meanwhile
		}
		return fmt.Errorf("%q: %w", path, err)
	}
	e := w.idx.entries[path]
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		if e != nil && e.Mode == filemode.Submodule {
			w.seen[path] = true
			return w.visit.same(e)
		}
		return w.enter(ctx, dir, path, name, depth, rules)
	}
	f := &workFile{path: path, name: name, dir: int(dir.Fd()), size: st.Size, mode: modeOf(&st), budget: &w.bytes}
	switch {
	case e != nil && w.idx.untouched(e, &st):
		w.seen[path] = true
		return w.visit.same(e)
	case f.mode == filemode.Empty: // a FIFO, socket or device; a tracked file in its place counts as gone
		return nil
	case e != nil:
		w.seen[path] = true
		return w.visit.tracked(e, f)
	case gitname.IsDotGit(name) || rules.Ignores(path, false):
		return nil
	}
	return w.visit.untracked(f)
}

// enter walks a directory below an open one, unless it is ignored or another repository.
func (w *workWalk) enter(ctx context.Context, parent *os.File, path, name string, depth int, rules *ignore.Rules) error {
	if !w.idx.dirs[path] && (gitname.IsDotGit(name) || rules.Ignores(path, true)) {
		return nil
	}
	fd, err := unix.Openat(int(parent.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%q: %w", path, err)
	}
	var st unix.Stat_t
	if !w.idx.dirs[path] && unix.Fstatat(fd, ".git", &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
		return errors.Join(w.visit.nested(path), unix.Close(fd))
	}
	return w.dir(ctx, os.NewFile(uintptr(fd), name), path+"/", depth+1, rules)
}
