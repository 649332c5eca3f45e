package capture

import (
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"golang.org/x/sys/unix"

	"sandboxrun/gitdiff"
)

// place is one name of a directory under the walk: what is there now and what the base has.
type place struct {
	dir  *directory
	name string // the last component
	path string // from the root, slash-separated
	st   unix.Stat_t
	old  object.TreeEntry // the base's entry of that name
	had  bool             // whether there is one
}

// kind is the file type bits of what is there.
func (p place) kind() uint32 { return p.st.Mode & unix.S_IFMT }

// tracked reports whether the base knows the path, so that ignore rules do not apply.
func (p place) tracked() bool {
	return p.had && (p.old.Mode == filemode.Dir) == (p.kind() == unix.S_IFDIR)
}

// kept is the base's entry, for a place that cannot be read: a finding names it, and a delete would be an untruth too.
func (p place) kept() *object.TreeEntry {
	if !p.had {
		return nil
	}
	return &p.old
}

// tooLong reports whether the place is beyond the depth or length a capture goes.
func (p place) tooLong(b Budget) bool {
	return len(p.path) > gitdiff.MaxPath || p.kind() == unix.S_IFDIR && p.dir.depth+1 > b.Depth
}

// keepSubmodule is the entry of a submodule at a place that was deleted, and nothing for anything else.
func keepSubmodule(p place) *object.TreeEntry {
	if p.had && p.old.Mode == filemode.Submodule {
		return &p.old
	}
	return nil
}

// kindName is a word for a file type git has no mode for.
func kindName(kind uint32) string {
	switch kind {
	case unix.S_IFIFO:
		return "fifo"
	case unix.S_IFSOCK:
		return "socket"
	case unix.S_IFCHR, unix.S_IFBLK:
		return "device"
	}
	return "unknown type"
}
