package gitdiff

import (
	"context"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"golang.org/x/sys/unix"
)

// captureSource is what a capture reads and where it writes.
type captureSource struct {
	root     string                     // the directory to walk: a whole tree, or the upper layer of an overlay
	overlay  bool                       // root is an upper layer over the files of lower
	storer   storer.EncodedObjectStorer // holds the trees; new objects go here
	baseTree plumbing.Hash              // what the box began with; zero for nothing
	lower    plumbing.Hash              // overlay only: what shows where the upper layer has nothing
	stat     *statCache                 // what files of baseTree looked like in root; nil for none
	budget   Budget
}

// capturer walks one tree. It opens every entry relative to its directory and never follows a link, so nothing outside
// root is read whatever the tree holds.
type capturer struct {
	captureSource
	snap  *Snapshot
	dirs  int
	modes int            // files with bits git does not keep
	kinds map[Code]Grade // codes found, and the gravest grade of each
	buf   []byte
}

// directory is one open directory of the walk.
type directory struct {
	f     *os.File
	path  string // "" for the root
	depth int
	base  map[string]object.TreeEntry // what the box began with here
	lower map[string]object.TreeEntry // what shows through here; nothing where it is hidden, or without an overlay
	rules *ignoreRules
}

// join is the path of a name in the directory. Names are raw bytes, so nothing is cleaned.
func (d *directory) join(name string) string {
	if d.path == "" {
		return name
	}
	return d.path + "/" + name
}

// capture writes the tree found at src.root and returns it with what it could not hold.
func capture(ctx context.Context, src captureSource) (*Snapshot, error) {
	c := &capturer{captureSource: src, snap: &Snapshot{}, buf: make([]byte, 64<<10)}
	fd, err := unix.Open(src.root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", src.root, err)
	}
	root := &directory{f: os.NewFile(uintptr(fd), "root"), rules: newIgnoreRules()}
	if !src.overlay {
		src.lower = plumbing.ZeroHash
	}
	entries, err := c.walk(ctx, root, src.baseTree, src.lower)
	if err != nil {
		return nil, err
	}
	id, err := writeTree(c.storer, entries, c.baseTree)
	if err != nil {
		return nil, err
	}
	c.snap.Tree = id.String()
	return c.snap, nil
}

// walk reads a directory, which began as one tree and lies over another, closes it, and returns its new entries.
func (c *capturer) walk(ctx context.Context, d *directory, base, lower plumbing.Hash) ([]object.TreeEntry, error) {
	defer d.f.Close()
	if c.dirs++; c.dirs > c.budget.Dirs {
		return nil, &BudgetError{Code: TooManyFiles, What: "directories", Limit: int64(c.budget.Dirs)}
	}
	if err := c.enter(d, base, lower); err != nil {
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
	entries = append(entries, d.unlisted(here)...)
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

// unlisted are the entries that are there without being listed: what shows through, and submodules, which are no files
// of this tree and stay as long as the directory holding them does.
func (d *directory) unlisted(here map[string]bool) []object.TreeEntry {
	var entries []object.TreeEntry
	for name, e := range d.base {
		if !here[name] && e.Mode == filemode.Submodule {
			entries = append(entries, e)
		}
	}
	for name, e := range d.lower {
		if !here[name] && d.base[name].Mode != filemode.Submodule {
			entries = append(entries, e)
		}
	}
	return entries
}

// enter loads what a directory began with, what shows through it, and its ignore rules.
func (c *capturer) enter(d *directory, base, lower plumbing.Hash) error {
	var err error
	if d.base, err = entriesByName(c.storer, base); err != nil {
		return err
	}
	if e, ok := d.base[ignoreFile]; ok && e.Mode.IsRegular() {
		if d.rules, err = d.rules.load(c.storer, e.Hash, d.path); err != nil {
			return fmt.Errorf("ignore rules of %q: %w", d.path, err)
		}
	}
	if !c.overlay {
		return nil
	}
	opaque, err := overlayOpaque(d.f)
	if err != nil {
		return fmt.Errorf("overlay marks of %q: %w", d.path, err)
	}
	switch {
	case opaque:
	case lower == base:
		d.lower = d.base
	default:
		d.lower, err = entriesByName(c.storer, lower)
	}
	return err
}

// entry captures one name of a directory; nil means that the new tree does not have it.
func (c *capturer) entry(ctx context.Context, d *directory, name string) (*object.TreeEntry, error) {
	p := d.join(name)
	if isDotGit(name) {
		c.dotGit(d, name, p)
		return nil, nil
	}
	var st unix.Stat_t
	if err := unix.Fstatat(int(d.f.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, fmt.Errorf("%w: stat %q: %w", ErrTreeUnstable, p, err)
	}
	at := place{dir: d, name: name, path: p, st: st}
	at.old, at.had = d.base[name]
	if c.overlay && isWhiteout(&st) {
		return keepSubmodule(at), nil
	}
	if at.had && at.old.Mode == filemode.Submodule {
		return c.submodule(at)
	}
	kind := st.Mode & unix.S_IFMT
	if kind != unix.S_IFDIR && kind != unix.S_IFREG && kind != unix.S_IFLNK {
		c.find(SpecialFile, p, kindName(kind))
		return nil, nil
	}
	if at.tooLong(c.budget) {
		c.find(PathTooDeep, p, fmt.Sprintf("%d levels, %d bytes", strings.Count(p, "/"), len(p)))
		return at.kept(), nil
	}
	if !at.tracked() && d.rules.ignores(p, kind == unix.S_IFDIR) {
		c.ignored(p)
		return nil, nil
	}
	if reason := unusualName(name); reason != "" && !at.had {
		c.keep(Finding{Code: DangerousPath, Path: p, Detail: reason, Class: className})
	}
	switch kind {
	case unix.S_IFDIR:
		return c.subdirectory(ctx, at)
	case unix.S_IFLNK:
		return c.link(at)
	}
	return c.file(at)
}
