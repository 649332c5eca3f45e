package change

import (
	"bytes"
	"fmt"
	"strings"

	"sandboxrun/gitdiff/gitobj"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// texts are the two sides of a change, loaded to be compared by line.
type texts struct {
	old, new string
	binary   bool   // they cannot be, and were not kept
	note     string // why not, for a text
}

// load reads both sides of a change. Whether one is binary is decided as git does without attributes: by a NUL among the
// first 8000 bytes (buffer_is_binary in git's xdiff-interface.c).
func (d *Diff) load(c *Change) (texts, error) {
	if c.Binary {
		return texts{binary: true, note: c.Note}, nil
	}
	var t texts
	for _, s := range []struct {
		side side
		text *string
	}{{c.old, &t.old}, {c.new, &t.new}} {
		text, ok, err := d.text(s.side)
		if err != nil {
			return texts{}, err
		}
		if !ok {
			return texts{binary: true, note: fmt.Sprintf("larger than %d bytes: not compared by line", MaxTextBytes)}, nil
		}
		if bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 {
			return texts{binary: true}, nil
		}
		if bytes.Count(text, []byte{'\n'}) > maxTextLines {
			return texts{binary: true, note: fmt.Sprintf("more than %d lines: not compared by line", maxTextLines)}, nil
		}
		*s.text = string(text)
	}
	return t, nil
}

// text is what one side is for a comparison by line; a submodule is the line git writes for it. It is not ok when it is
// too large to be read.
func (d *Diff) text(s side) (text []byte, ok bool, err error) {
	switch {
	case !s.exists():
		return nil, true, nil
	case s.mode == filemode.Submodule:
		return fmt.Appendf(nil, "Subproject commit %s\n", s.id), true, nil
	}
	size, err := d.storer.EncodedObjectSize(s.id)
	if err != nil {
		return nil, false, gitobj.ReadError(s.id, err)
	}
	if size > MaxTextBytes {
		return nil, false, nil
	}
	text, err = gitobj.Content(d.storer, plumbing.BlobObject, s.id, MaxTextBytes)
	return text, err == nil, err
}

// splitLines cuts a text after every newline; the last line may have none.
func splitLines(text string) []string {
	lines := make([]string, 0, strings.Count(text, "\n")+1)
	for line := range strings.Lines(text) {
		lines = append(lines, line)
	}
	return lines
}
