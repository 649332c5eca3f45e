package capture

import (
	"slices"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitname"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// collisions reports new names that fall together with another one where case, normal form, characters HFS+ ignores or
// what NTFS drops from a name do not count. Of a link and a directory that do, one is written through the other.
func (c *capturer) collisions(d *directory, entries []object.TreeEntry) {
	isNew := func(e object.TreeEntry) bool {
		was, had := d.base[e.Name]
		return !had || was.Mode&^0o7777 != e.Mode&^0o7777
	}
	if !slices.ContainsFunc(entries, isNew) {
		return
	}
	seen := make(map[string]object.TreeEntry, len(entries))
	meet := func(e, other object.TreeEntry) {
		if !isNew(e) {
			e, other = other, e
		}
		if isNew(e) {
			c.find(gitdiff.CaseCollision, d.join(e.Name), entryKind(e)+" next to the "+entryKind(other)+" "+gitname.Clip(other.Name, 200))
		}
	}
	for _, e := range entries {
		key := gitname.Fold(e.Name)
		if other, double := seen[key]; double {
			meet(e, other)
		} else {
			seen[key] = e
		}
	}
	c.shortNames(entries, meet)
}

// shortNames reports names that are the short form of another one. Its time grows with the number of entries: a box may
// leave tens of thousands of such names in one directory.
func (c *capturer) shortNames(entries []object.TreeEntry, meet func(e, other object.TreeEntry)) {
	long := map[string][]object.TreeEntry{} // the first two of each key: a name may be both, and is not its own other
	for _, e := range entries {
		if key, ok := gitname.LongKey(e.Name); ok && len(long[key]) < 2 {
			long[key] = append(long[key], e)
		}
	}
	if len(long) == 0 {
		return
	}
	for _, e := range entries {
		key, ok := gitname.ShortKey(e.Name)
		if !ok {
			continue
		}
		others := long[key]
		if i := slices.IndexFunc(others, func(o object.TreeEntry) bool { return o.Name != e.Name }); i >= 0 {
			meet(e, others[i])
		}
	}
}

func entryKind(e object.TreeEntry) string {
	switch e.Mode {
	case filemode.Dir:
		return "directory"
	case filemode.Symlink:
		return "link"
	case filemode.Submodule:
		return "submodule"
	}
	return "file"
}
