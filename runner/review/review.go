// Package review shows the change of an ended run to people: its files with their hunks, a page at a time, and single
// files as they were before and after. Hunks come from the run's patch, so that they can be shown as long as the run is
// kept, whatever became of the repository.
package review

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"sandboxrun/runner/document"
	"sandboxrun/runner/state"
)

// Change is a part of a run's change.
type Change struct {
	RunID      string        `json:"run_id"`
	BaseCommit string        `json:"base_commit"`
	Tree       string        `json:"tree"`
	Total      int           `doc:"Files of the whole change."                                  json:"total"`
	Files      []ChangedFile `json:"files"`
	Next       int           `doc:"Value of offset for the next page; missing on the last one." json:"next,omitempty"`
	Note       string        `doc:"Why there are no lines, such as a secret among them."        json:"note,omitempty"`
}

// ChangedFile is one path of a change.
type ChangedFile struct {
	document.FileChange
	// Issues are the issues of the run about this path.
	Issues   []document.Issue `json:"issues"`
	Hunks    []Hunk           `doc:"In order; missing in a summary, and for a file that was not compared by line."   json:"hunks,omitempty"`
	Lines    int              `doc:"Lines of all hunks."                                                             json:"lines"`
	NextLine int              `doc:"Value of line for the next lines of this path; missing where there are no more." json:"next_line,omitempty"`
	Note     string           `doc:"Why there are no hunks."                                                         json:"note,omitempty"`
}

// Hunk is a changed part with the lines around it.
type Hunk struct {
	OldStart int64  `json:"old_start"` // of its first line here
	OldLines int64  `json:"old_lines"`
	NewStart int64  `json:"new_start"`
	NewLines int64  `json:"new_lines"`
	Section  string `json:"section,omitempty"`
	// Lines begin with a space, + or -, as in a patch; a line that ends the file without a newline is followed by "\".
	Lines   []string `json:"lines"`
	Clipped int      `doc:"How many of the lines were too long to be shown whole." json:"clipped,omitempty"`
}

// Query chooses a part of a change.
type Query struct {
	Path    string // raw; only this path, "" for all
	Offset  int    // number of the first file, from 0
	Limit   int    // files
	Line    int    // of a single path: number of the first line of its hunks, from 0
	Lines   int    // of each file
	Summary bool   // no hunks
}

const (
	maxLine = 4000    // bytes of one line
	maxPage = 4 << 20 // bytes of the lines of a page; the first file of a page is cut there, later ones go to the next
)

// ErrNotEnded is returned for a run without a result.
var ErrNotEnded = errors.New("the run has no result yet")

// Diff returns a part of a run's change. The error is [ErrNotEnded] for a run without a result, and wraps
// [fs.ErrNotExist] where the change has no such path.
func Diff(ctx context.Context, known *Indexes, dir *state.RunDir, q Query) (Change, error) {
	res, err := result(dir)
	if err != nil {
		return Change{}, err
	}
	page := Change{RunID: dir.ID(), BaseCommit: res.Git.BaseCommit, Tree: res.Git.Tree, Files: []ChangedFile{}}
	patch, err := os.OpenInRoot(dir.Dir(), "diff.patch")
	if errors.Is(err, fs.ErrNotExist) {
		return withoutPatch(page, res, q)
	}
	if err != nil {
		return page, err
	}
	defer patch.Close()
	index, err := known.of(patch)
	if err != nil {
		return page, fmt.Errorf("read the patch of run %s: %w", dir.ID(), err)
	}
	v := viewer{res: res, patch: patch, index: index, q: q, left: maxPage}
	page.Total = v.total()
	if err := v.fill(ctx, &page); err != nil {
		return page, err
	}
	return page, nil
}

func result(dir *state.RunDir) (*document.Result, error) {
	doc, err := dir.Result()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotEnded
	}
	if err != nil {
		return nil, err
	}
	var res document.Result
	if err := json.Unmarshal(doc, &res); err != nil {
		return nil, fmt.Errorf("read result of run %s: %w", dir.ID(), err)
	}
	return &res, nil
}

// withoutPatch lists the files of a change whose patch was not kept.
func withoutPatch(page Change, res *document.Result, q Query) (Change, error) {
	page.Total = len(res.FilesChanged) + res.FilesOmitted
	if len(res.FilesChanged) > 0 {
		page.Note = "the run keeps no patch, because its change holds a secret"
	}
	for i, c := range res.FilesChanged {
		switch {
		case q.Path != "" && raw(c) != q.Path, q.Path == "" && i < q.Offset:
		case len(page.Files) == q.Limit:
			page.Next = i
			return page, nil
		default:
			page.Files = append(page.Files, ChangedFile{FileChange: c, Issues: issuesOf(res, c.Path)})
		}
	}
	if q.Path != "" && len(page.Files) == 0 {
		return page, noPath(q.Path)
	}
	return page, nil
}

func noPath(path string) error {
	return fmt.Errorf("the change has no path %.200q: %w", path, fs.ErrNotExist)
}

// raw is the exact path of a change.
func raw(c document.FileChange) string {
	if c.PathB64 != "" {
		if exact, err := base64.StdEncoding.DecodeString(c.PathB64); err == nil {
			return string(exact)
		}
	}
	return c.Path
}

func issuesOf(res *document.Result, path string) []document.Issue {
	list := []document.Issue{}
	for _, i := range res.Issues {
		if i.Path == path {
			list = append(list, i)
		}
	}
	return list
}

// viewer makes one page.
type viewer struct {
	res   *document.Result
	patch *os.File
	index *patchIndex
	q     Query
	left  int // bytes of lines
	facts map[string]document.FileChange
}

// total counts paths: one that became another kind of thing has two parts, one after the other.
func (v *viewer) total() int {
	n := 0
	for i := range v.index.sections {
		if i == 0 || v.index.sections[i-1].name != v.index.sections[i].name {
			n++
		}
	}
	return n
}

func (v *viewer) fill(ctx context.Context, page *Change) error {
	v.facts = make(map[string]document.FileChange, len(v.res.FilesChanged))
	for _, c := range v.res.FilesChanged {
		v.facts[raw(c)] = c
	}
	at, number := 0, 0
	if v.q.Path != "" {
		i, ok := v.index.byName[v.q.Path]
		if !ok {
			return noPath(v.q.Path)
		}
		at, v.q.Limit, v.q.Offset = i, 1, 0
	}
	for at < len(v.index.sections) {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		end := at + 1
		for end < len(v.index.sections) && v.index.sections[end].name == v.index.sections[at].name {
			end++
		}
		if number >= v.q.Offset {
			full := len(page.Files) > 0 && v.left <= 0
			if len(page.Files) == v.q.Limit || full {
				if v.q.Path == "" {
					page.Next = number
				}
				return nil
			}
			f, err := v.file(v.index.sections[at:end])
			if err != nil {
				return err
			}
			page.Files = append(page.Files, f)
		}
		at, number = end, number+1
	}
	return nil
}

// file shows the parts of one path.
func (v *viewer) file(parts []section) (ChangedFile, error) {
	name := parts[0].name
	c, ok := v.facts[name]
	if !ok {
		c = factsOf(parts)
	}
	f := ChangedFile{FileChange: c, Issues: issuesOf(v.res, c.Path)}
	if v.q.Summary {
		return f, nil
	}
	w := window{skip: v.q.Line, lines: v.q.Lines, left: &v.left}
	for _, p := range parts {
		switch {
		case p.binary:
			f.Binary, f.Note = true, "not compared by line"
			continue
		case p.size > maxSection:
			f.Note = fmt.Sprintf("its part of the patch has %d bytes: too large to be shown by line", p.size)
			continue
		}
		hunks, err := p.lines(v.patch)
		if err != nil {
			return f, fmt.Errorf("%.200q: %w", name, err)
		}
		for _, h := range hunks {
			if shown := w.take(h); len(shown.Lines) > 0 {
				f.Hunks = append(f.Hunks, shown)
			}
		}
	}
	f.Lines, f.NextLine = w.seen, w.next
	return f, nil
}

// factsOf is what the patch itself says of a path that the result leaves out.
func factsOf(parts []section) document.FileChange {
	c := document.FileChange{Path: parts[0].name, ChangeType: "modified", Highlights: []string{}, Binary: parts[0].binary}
	if !utf8.ValidString(c.Path) {
		c.PathB64 = base64.StdEncoding.EncodeToString([]byte(c.Path))
		c.Path = strings.ToValidUTF8(c.Path, "\ufffd")
	}
	switch {
	case len(parts) > 1:
	case parts[0].head.IsNew:
		c.ChangeType = "added"
	case parts[0].head.IsDelete:
		c.ChangeType = "deleted"
	}
	return c
}

// window takes some of the lines of one path's hunks.
type window struct {
	skip, lines int
	left        *int
	seen, took  int
	next        int
}

func (w *window) take(h *gitdiff.TextFragment) Hunk {
	out := Hunk{OldStart: h.OldPosition, NewStart: h.NewPosition, Section: strings.ToValidUTF8(h.Comment, "\ufffd"), Lines: []string{}}
	oldLine, newLine := h.OldPosition, h.NewPosition
	for _, l := range h.Lines {
		number := w.seen
		w.seen++
		inside := number >= w.skip && w.next == 0
		if inside && (w.took >= w.lines || *w.left <= 0) {
			w.next, inside = number, false
		}
		if inside {
			if len(out.Lines) == 0 {
				out.OldStart, out.NewStart = oldLine, newLine
			}
			out.add(l, w)
		}
		if l.Op != gitdiff.OpAdd {
			oldLine++
			if inside {
				out.OldLines++
			}
		}
		if l.Op != gitdiff.OpDelete {
			newLine++
			if inside {
				out.NewLines++
			}
		}
	}
	return out
}

func (h *Hunk) add(l gitdiff.Line, w *window) {
	text, ends := strings.CutSuffix(l.Line, "\n")
	if len(text) > maxLine {
		text = text[:maxLine]
		h.Clipped++
	}
	h.Lines = append(h.Lines, l.Op.String()+strings.ToValidUTF8(text, "\ufffd"))
	if !ends {
		h.Lines = append(h.Lines, `\`)
	}
	w.took++
	*w.left -= len(text) + 8
}
