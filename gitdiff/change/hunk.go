package change

import "github.com/bluekeyes/go-gitdiff/gitdiff"

// contextLines is how many unchanged lines surround a change in a patch, as in git.
const contextLines = 3

// hunks are the changed parts of an edit with the lines around them, in the form a patch has them.
func (e *lineEdit) hunks(rule *sectionRule) []*gitdiff.TextFragment {
	var all []*gitdiff.TextFragment
	sections := rule.sections(e.old)
	i, j := 0, 0 // lines of old and new before the next one
	for {
		for i < len(e.old) && j < len(e.new) && !e.gone[i] && !e.put[j] {
			i, j = i+1, j+1
		}
		if i == len(e.old) && j == len(e.new) {
			return all
		}
		lead := min(contextLines, i, j)
		h := &gitdiff.TextFragment{}
		i, j = i-lead, j-lead
		start, begin := i, j
		i, j = e.extend(h, i, j)
		h.OldPosition, h.OldLines = position(start, i), int64(i-start)
		h.NewPosition, h.NewLines = position(begin, j), int64(j-begin)
		if start > 0 && sections[start-1] >= 0 {
			h.Comment = hunkComment(e.old[sections[start-1]])
		}
		all = append(all, h)
	}
}

// extend adds lines to a hunk from a point of the edit on, until no further change is near, and returns where it ends.
func (e *lineEdit) extend(h *gitdiff.TextFragment, i, j int) (int, int) {
	quiet := 0 // unchanged lines at the end
	changed := false
	for i < len(e.old) || j < len(e.new) {
		switch {
		case i < len(e.old) && e.gone[i]:
			h.Lines = append(h.Lines, gitdiff.Line{Op: gitdiff.OpDelete, Line: e.old[i]})
			i, quiet, changed = i+1, 0, true
		case j < len(e.new) && e.put[j]:
			h.Lines = append(h.Lines, gitdiff.Line{Op: gitdiff.OpAdd, Line: e.new[j]})
			j, quiet, changed = j+1, 0, true
		case changed && quiet == 2*contextLines:
			h.Lines = h.Lines[:len(h.Lines)-contextLines]
			return i - contextLines, j - contextLines
		default:
			h.Lines = append(h.Lines, gitdiff.Line{Op: gitdiff.OpContext, Line: e.old[i]})
			i, j, quiet = i+1, j+1, quiet+1
		}
	}
	if over := quiet - contextLines; changed && over > 0 {
		h.Lines = h.Lines[:len(h.Lines)-over]
		return i - over, j - over
	}
	return i, j
}

// position is the line number a hunk states for the lines [from, to): the line before, when there are none.
func position(from, to int) int64 {
	if from == to {
		return int64(from)
	}
	return int64(from + 1)
}
