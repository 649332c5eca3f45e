// Package capture is the only code that reads what a box has written: it walks a tree relative to open directories, without
// following a link or waiting for a file, and stores it as a git tree together with findings about what git cannot hold.
package capture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sort"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitname"
	"sandboxrun/gitdiff/gitobj"
	"sandboxrun/gitdiff/ignore"
	"sandboxrun/internal/floor"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"golang.org/x/sys/unix"
)

// Capture writes the tree found at src.root and returns it with what it could not hold.
func Capture(ctx context.Context, src Source) (*Snapshot, error) {
	c := &capturer{Source: src, storer: src.Objects.Storer(), blobs: src.Objects.Blobs(), snap: &Snapshot{}}
	if !src.Marks.valid() {
		return nil, fmt.Errorf("capture: unknown marks %q", src.Marks)
	}
	if src.Marks == NoMarks {
		c.Lower = plumbing.ZeroHash
	}
	c.floor = floor.New(src.Objects.Store().Dir(), src.Budget.FreeBytes)
	fd, err := unix.Open(src.Root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", src.Root, err)
	}
	root := &directory{f: os.NewFile(uintptr(fd), "root"), rules: ignore.New()}
	if err := src.Marks.readable(root.f); err != nil {
		return nil, errors.Join(err, root.f.Close())
	}
	entries, err := c.walk(ctx, root, src.BaseTree, c.Lower)
	if err != nil {
		return nil, err
	}
	id, err := gitobj.WriteTree(c.storer, entries, c.BaseTree)
	if err != nil {
		return nil, err
	}
	c.snap.Tree = id.String()
	return c.snap, nil
}

// walk reads a directory, which began as one tree and lies over another, closes it, and returns its new entries.
func (c *capturer) walk(ctx context.Context, d *directory, base, lower plumbing.Hash) ([]object.TreeEntry, error) {
	defer d.f.Close()
	if err := c.countDir(); err != nil {
		return nil, err
	}
	if err := errors.Join(c.begin(d, base), c.enter(d, base, lower)); err != nil {
		return nil, err
	}
	names, err := c.names(d)
	if err != nil {
		return nil, err
	}
	var entries []object.TreeEntry
	here := map[string]bool{} // of the names that were there before
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if d.known(name) {
			here[name] = true
		}
		e, err := c.entry(ctx, d, name)
		if err != nil {
			return nil, err
		}
		if e != nil {
			entries = append(entries, *e)
		}
	}
	through, err := c.showing(ctx, d, here)
	if err != nil {
		return nil, err
	}
	entries = append(append(entries, through...), d.submodules(here)...)
	sort.Sort(object.TreeEntrySorter(entries))
	c.collisions(d, entries)
	return entries, nil
}

// known reports whether the directory began with an entry of that name, or one shows through.
func (d *directory) known(name string) bool {
	_, began := d.base[name]
	_, shows := d.lower[name]
	return began || shows
}

// submodules are the submodules of the directory, which are no files of this tree and stay as long as the directory holding
// them does, but for those among the names that the directory lists.
func (d *directory) submodules(here map[string]bool) []object.TreeEntry {
	var entries []object.TreeEntry
	for name, e := range d.base {
		if !here[name] && e.Mode == filemode.Submodule {
			entries = append(entries, e)
		}
	}
	return entries
}

// begin loads what a directory began with, and its ignore rules.
func (c *capturer) begin(d *directory, base plumbing.Hash) error {
	var err error
	if d.base, err = gitobj.EntriesByName(c.storer, base); err != nil {
		return err
	}
	if e, ok := d.base[ignore.File]; ok && e.Mode.IsRegular() {
		if d.rules, err = d.rules.Load(c.storer, e.Hash, d.path); err != nil {
			return fmt.Errorf("ignore rules of %q: %w", d.path, err)
		}
	}
	return nil
}

// enter loads what shows through a directory of an upper layer; lower is what the layers below have at its place.
func (c *capturer) enter(d *directory, base, lower plumbing.Hash) error {
	if c.Marks == NoMarks {
		return nil
	}
	opaque, to, err := c.Marks.of(d.f)
	if err == nil && to != "" {
		lower, err = c.redirected(d, to)
	}
	if err != nil {
		return fmt.Errorf("overlay marks of %q: %w", d.path, err)
	}
	switch {
	case opaque:
	case lower == base:
		d.lower = d.base
	default:
		d.lower, err = gitobj.EntriesByName(c.storer, lower)
	}
	return err
}

// entry captures one name of a directory; nil means that the new tree does not have it.
func (c *capturer) entry(ctx context.Context, d *directory, name string) (*object.TreeEntry, error) {
	p := d.join(name)
	if gitname.IsDotGit(name) {
		c.dotGit(d, name, p)
		return nil, nil
	}
	var st unix.Stat_t
	if err := unix.Fstatat(int(d.f.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, fmt.Errorf("%w: stat %q: %w", gitdiff.ErrTreeUnstable, p, err)
	}
	at := place{dir: d, name: name, path: p, st: st}
	at.old, at.had = d.base[name]
	if c.Marks != NoMarks && isWhiteout(&st) {
		return keepSubmodule(at), nil
	}
	if at.had && at.old.Mode == filemode.Submodule {
		return c.submodule(at)
	}
	kind := st.Mode & unix.S_IFMT
	if kind != unix.S_IFDIR && kind != unix.S_IFREG && kind != unix.S_IFLNK {
		c.find(gitdiff.SpecialFile, p, kindName(kind))
		return nil, nil
	}
	if at.tooLong(c.Budget) {
		c.tooDeep(at)
		return at.kept(), nil
	}
	if !at.tracked() && d.rules.Ignores(p, kind == unix.S_IFDIR) {
		c.ignored(p)
		return nil, nil
	}
	c.unusual(at)
	switch kind {
	case unix.S_IFDIR:
		return c.subdirectory(ctx, at)
	case unix.S_IFLNK:
		return c.link(at)
	}
	return c.file(at)
}
