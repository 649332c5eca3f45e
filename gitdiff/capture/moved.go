package capture

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitname"
	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"golang.org/x/sys/unix"
)

// errRedirect is the error of a layer with a redirect that no kernel writes.
var errRedirect = errors.New("overlay redirect that the kernel does not make")

// redirected is the tree that a directory of the upper layer shows instead of the one at its place. A box moves a directory of the
// base by renaming it: the kernel then makes an empty directory that names the old place, relative to where its parent's files
// come from, or from the root of the base. It never names another moved directory, so there is nothing to follow and no loop.
func (c *capturer) redirected(d *directory, to string) (plumbing.Hash, error) {
	refuse := func(why string) (plumbing.Hash, error) {
		return plumbing.ZeroHash, fmt.Errorf("%w: %q at %q: %s", errRedirect, gitname.Clip(to, 200), d.path, why)
	}
	if d.above == nil {
		return refuse("the root cannot be moved")
	}
	from, names := d.above.lower, []string{to}
	if rest, absolute := strings.CutPrefix(to, "/"); absolute {
		names = strings.Split(rest, "/")
		var err error
		if from, err = c.listed(c.Lower); err != nil {
			return plumbing.ZeroHash, err
		}
	}
	for i, name := range names {
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") || gitname.IsDotGit(name) {
			return refuse("not a path of the base")
		}
		e, ok := from[name]
		if i == len(names)-1 {
			switch {
			case ok && e.Mode == filemode.Dir:
				return e.Hash, nil
			case ok && e.Mode == filemode.Submodule: // an empty directory of the base
				return plumbing.ZeroHash, nil
			}
		}
		if e.Mode != filemode.Dir {
			break
		}
		var err error
		if from, err = c.listed(e.Hash); err != nil {
			return plumbing.ZeroHash, err
		}
	}
	return refuse("no directory of the base")
}

// maxListed bounds the entries of trees that are kept for the next redirect.
const maxListed = 200_000

// listed is the content of a tree of the base, which many redirects may lead through.
func (c *capturer) listed(id plumbing.Hash) (map[string]object.TreeEntry, error) {
	if known, ok := c.trees[id]; ok {
		return known, nil
	}
	entries, err := gitobj.EntriesByName(c.storer, id)
	if err != nil {
		return nil, err
	}
	if c.kept += len(entries); c.trees == nil || c.kept > maxListed {
		c.trees, c.kept = map[plumbing.Hash]map[string]object.TreeEntry{}, len(entries)
	}
	c.trees[id] = entries
	return entries, nil
}

// showing are the entries that show through a directory without being listed. Those that were there before stay as they are. Others
// came with a moved directory: what is asked of a new file is asked of them too, so that both layouts give the same.
func (c *capturer) showing(ctx context.Context, d *directory, here map[string]bool) ([]object.TreeEntry, error) {
	var entries []object.TreeEntry
	var moved []string
	for name, e := range d.lower {
		switch {
		case here[name]:
		case d.base[name] == e:
			if e.Mode != filemode.Submodule { // [directory.submodules] has those
				entries = append(entries, e)
			}
		default:
			moved = append(moved, name)
		}
	}
	slices.Sort(moved)
	for _, name := range moved {
		e, err := c.moved(ctx, d, d.lower[name])
		if err != nil {
			return nil, err
		}
		if e != nil {
			entries = append(entries, *e)
		}
	}
	return entries, nil
}

// moved captures an entry of the base that shows at another place than its own, from the tree objects alone: what
// [capturer.entry] finds at such a file. Files of any size are taken, as nothing of them is read.
func (c *capturer) moved(ctx context.Context, d *directory, e object.TreeEntry) (*object.TreeEntry, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := c.count(1, len(e.Name)); err != nil {
		return nil, err
	}
	at := place{dir: d, name: e.Name, path: d.join(e.Name)}
	at.old, at.had = d.base[e.Name]
	at.st.Mode = unix.S_IFREG
	switch e.Mode {
	case filemode.Dir, filemode.Submodule: // a submodule is an empty directory
		at.st.Mode = unix.S_IFDIR
	case filemode.Symlink:
		at.st.Mode = unix.S_IFLNK
	}
	switch {
	case gitname.IsDotGit(e.Name):
		c.dotGit(d, e.Name, at.path)
		return nil, nil
	case at.had && at.old.Mode == filemode.Submodule:
		if e.Mode != filemode.Submodule {
			c.find(gitdiff.SubmoduleTouched, at.path, "replaced by a moved "+entryKind(e))
		}
		return nil, nil // [directory.submodules] has it
	case e.Mode == filemode.Submodule:
		return nil, nil
	case at.tooLong(c.Budget):
		c.tooDeep(at)
		return at.kept(), nil
	case !at.tracked() && d.rules.Ignores(at.path, e.Mode == filemode.Dir):
		c.ignored(at.path)
		return nil, nil
	}
	c.unusual(at)
	switch e.Mode {
	case filemode.Dir:
		return c.movedDirectory(ctx, at, e)
	case filemode.Symlink:
		if gitname.IsDotGitmodules(e.Name) {
			c.leftOut(at.path, "a link git refuses to read")
			return nil, nil
		}
	}
	return &e, nil
}

// movedDirectory captures a directory below a moved one that the upper layer does not have.
func (c *capturer) movedDirectory(ctx context.Context, at place, e object.TreeEntry) (*object.TreeEntry, error) {
	if err := c.countDir(); err != nil {
		return nil, err
	}
	d := &directory{path: at.path, depth: at.dir.depth + 1, rules: at.dir.rules}
	var base plumbing.Hash
	if at.tracked() {
		base = at.old.Hash
	}
	err := c.begin(d, base)
	if err != nil {
		return nil, err
	}
	if d.lower, err = gitobj.EntriesByName(c.storer, e.Hash); err != nil {
		return nil, err
	}
	entries, err := c.showing(ctx, d, nil)
	if err != nil {
		return nil, err
	}
	entries = append(entries, d.submodules(nil)...)
	sort.Sort(object.TreeEntrySorter(entries))
	c.collisions(d, entries)
	return c.subtree(at, entries, e.Hash)
}
