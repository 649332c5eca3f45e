package change

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"sandboxrun/gitdiff/gitname"
)

// Description is what a comparison of contents says of one change, besides what the two trees say. Another process may
// have made it.
type Description struct {
	OldName    []byte   `json:"old_name,omitempty"` // see [Change.OldName]
	Additions  int      `json:"additions,omitempty"`
	Deletions  int      `json:"deletions,omitempty"`
	Binary     bool     `json:"binary,omitempty"`
	Note       string   `json:"note,omitempty"`
	Highlights []string `json:"highlights,omitempty"`
}

// Description is what [Diff.Describe] has found out about a change.
func (c *Change) Description() Description {
	return Description{OldName: []byte(c.OldName), Additions: c.Additions, Deletions: c.Deletions, Binary: c.Binary, Note: c.Note, Highlights: c.Highlights}
}

// Bounds of a description.
const (
	maxNote           = 200               // bytes
	maxHighlightBytes = 16 * maxHighlight // of one highlight: characters that mislead are written as escapes
)

// errDescription says that a description cannot be that of a change.
var errDescription = errors.New("impossible description of a change")

// Describer takes descriptions from another process, one for each change in the order of the diff, and refuses those that no
// comparison makes.
type Describer struct {
	diff *Diff
	next int
	gone map[string]bool // deleted paths, which a rename can be from
}

// Describer begins to take descriptions of the changes of a diff that [List] has made.
func (d *Diff) Describer() *Describer {
	t := &Describer{diff: d, gone: map[string]bool{}}
	for i := range d.Changes {
		if c := &d.Changes[i]; c.Type == Deleted {
			t.gone[c.Name] = true
		}
	}
	return t
}

// Take takes the description of the next change.
func (t *Describer) Take(about Description) error {
	if t.next == len(t.diff.Changes) {
		return fmt.Errorf("%w: more than %d", errDescription, t.next)
	}
	c := &t.diff.Changes[t.next]
	t.next++
	if reason := about.unfit(c, t.gone); reason != "" {
		return fmt.Errorf("%w: %s", errDescription, reason)
	}
	if len(about.OldName) > 0 {
		c.renamedFrom(string(about.OldName))
	}
	c.Additions, c.Deletions, c.Binary, c.Note, c.Highlights = about.Additions, about.Deletions, about.Binary, about.Note, about.Highlights
	return nil
}

// Done says whether every change is described.
func (t *Describer) Done() bool { return t.next == len(t.diff.Changes) }

// unfit says why a description cannot be that of a change; empty where it can.
func (about *Description) unfit(c *Change, gone map[string]bool) string {
	const most = MaxTextBytes + 1 // lines of a text
	switch {
	case about.Additions < 0 || about.Additions > most || about.Deletions < 0 || about.Deletions > most:
		return "number of lines"
	case about.Binary && (about.Additions > 0 || about.Deletions > 0 || len(about.Highlights) > 0):
		return "lines of what was not compared by line"
	case c.Type == Added && about.Deletions > 0, c.Type == Deleted && about.Additions > 0:
		return "lines on a side that does not exist"
	case len(about.Note) > maxNote || !fitToShow(about.Note):
		return "note"
	case len(about.OldName) > 0 && (c.Type != Added || !gone[string(about.OldName)]):
		return "renamed from a path that is not deleted"
	case len(about.Highlights) > maxHighlights:
		return "number of highlights"
	}
	for _, h := range about.Highlights {
		if h == "" || len(h) > maxHighlightBytes || !fitToShow(h) {
			return "highlight"
		}
	}
	return ""
}

// fitToShow says that a text is valid and one line, with nothing that misleads who reads it.
func fitToShow(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, gitname.Misleads)
}
