package change

import (
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"sandboxrun/gitdiff"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// ChangeType is what happened to a path.
type ChangeType string

// What can happen to a path. A rename is an [Added] path with an OldPath, and a [Deleted] one.
const (
	Added    ChangeType = "added"
	Modified ChangeType = "modified"
	Deleted  ChangeType = "deleted"
)

// Change is one path that differs between two trees. It is derived from the trees alone.
type Change struct {
	Name       string     // the path as git has it: raw bytes, slash-separated
	Path       string     // Name with what is not UTF-8 replaced by U+FFFD
	PathB64    string     // Name in standard base64, only when Path is not exact
	Type       ChangeType // added, modified or deleted
	OldName    string     // for an added path, the raw path of the deleted file it was renamed from
	OldPath    string     // OldName with what is not UTF-8 replaced
	OldPathB64 string     // OldName in base64, only when OldPath is not exact
	Additions  int        // lines, as git diff --numstat counts them; 0 when Binary
	Deletions  int        // lines
	Binary     bool       // the content was not compared by line
	Note       string     // why a text was not, such as its size; otherwise empty
	ModeChange string     // "100644→100755" where mode or type of a modified path changed
	Highlights []string   // the functions or sections the change touches, at most [maxHighlights], fit to be shown

	OldMode, NewMode string // octal modes as in a git tree; empty where the path does not exist
	OldID, NewID     string // hex ids of the content; empty likewise

	old, new  side
	unseen    []gitdiff.Finding // of the added lines, without path and grade
	textBytes int               // of both sides, when they were compared by line
}

// side is what a path is in one of two trees; the zero value is nothing.
type side struct {
	mode filemode.FileMode
	id   plumbing.Hash
}

func (s side) exists() bool { return s.mode != filemode.Empty }

// kind groups the modes that can turn into each other without deleting and creating the path.
func (s side) kind() filemode.FileMode { return s.mode &^ 0o7777 }

// regular is the kind of ordinary files, executable or not.
const regular = filemode.Regular &^ 0o7777

// newChange describes what became of a path, without reading the contents.
func newChange(name string, was, now side) Change {
	c := Change{Name: name, Type: Modified, old: was, new: now}
	c.Path, c.PathB64 = showPath(name)
	if was.exists() {
		c.OldMode, c.OldID = fmt.Sprintf("%06o", uint32(was.mode)), was.id.String()
	} else {
		c.Type = Added
	}
	if now.exists() {
		c.NewMode, c.NewID = fmt.Sprintf("%06o", uint32(now.mode)), now.id.String()
	} else {
		c.Type = Deleted
	}
	if c.Type == Modified && was.mode != now.mode {
		c.ModeChange = c.OldMode + "→" + c.NewMode
	}
	return c
}

// retyped reports whether the path became another kind of thing, which a patch writes as a deletion and a creation.
func (c *Change) retyped() bool { return c.Type == Modified && c.old.kind() != c.new.kind() }

// renamedFrom records the deleted path an added one came from.
func (c *Change) renamedFrom(name string) {
	c.OldName = name
	c.OldPath, c.OldPathB64 = showPath(name)
}

// showPath is a path for JSON, and its exact bytes when JSON cannot hold them.
func showPath(name string) (path, b64 string) {
	if utf8.ValidString(name) {
		return name, ""
	}
	return strings.ToValidUTF8(name, "\ufffd"), base64.StdEncoding.EncodeToString([]byte(name))
}

// Bounds of a diff. Beyond the byte bounds a file is compared as a whole, and its [Change.Note] gives the reason.
const (
	maxChanges   = 200_000  // paths in one diff
	maxNames     = 32 << 20 // bytes of those paths
	MaxTextBytes = 8 << 20  // one side of a file compared by line
	maxTextLines = 400_000  // lines of one side
)

// Diff is what differs between two trees.
type Diff struct {
	From, To string   // hex ids of the trees; empty for the empty tree
	Changes  []Change // in the byte order of their names

	storer storer.EncodedObjectStorer
}
