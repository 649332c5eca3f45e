package change

import (
	"strings"

	"sandboxrun/gitdiff/gitname"
)

// Bounds of the highlights of one file.
const (
	maxHighlights = 20 // sections of a modified file
	maxNewNames   = 5  // sections of an added or deleted one
	maxHighlight  = 100
)

// highlights names the functions or sections an edit touches, top to bottom, each once.
func highlights(c *Change, e *lineEdit) []string {
	rule := sectionsOf(c.Name)
	for _, s := range []side{c.old, c.new} {
		if s.exists() && s.kind() != regular {
			return nil
		}
	}
	switch c.Type {
	case Added:
		return rule.first(e.new)
	case Deleted:
		return rule.first(e.old)
	default:
		return rule.touched(e)
	}
}

// first names the first sections of a whole file.
func (r *sectionRule) first(lines []string) []string {
	var list nameList
	if r.guessed {
		return nil
	}
	for _, line := range lines {
		if list.full(maxNewNames) {
			break
		}
		if r.names(line) {
			list.add(line)
		}
	}
	return list.names
}

// touched names the sections that hold a changed line. Blank lines belong to none.
func (r *sectionRule) touched(e *lineEdit) []string {
	var list nameList
	above, below := r.sections(e.old), r.sections(e.new)
	for i, j := 0, 0; (i < len(e.old) || j < len(e.new)) && !list.full(maxHighlights); {
		switch {
		case i < len(e.old) && e.gone[i]:
			list.section(e.old, above, i)
			i++
		case j < len(e.new) && e.put[j]:
			list.section(e.new, below, j)
			j++
		default:
			i, j = i+1, j+1
		}
	}
	return list.names
}

// nameList collects names, each once.
type nameList struct {
	names []string
	seen  map[string]bool
}

func (l *nameList) full(limit int) bool { return len(l.names) >= limit }

func (l *nameList) section(lines []string, sections []int, i int) {
	if sections[i] >= 0 && strings.TrimSpace(lines[i]) != "" {
		l.add(lines[sections[i]])
	}
}

func (l *nameList) add(line string) {
	line = strings.Join(strings.Fields(line[:min(len(line), maxSectionLine)]), " ")
	line = gitname.Clip(strings.TrimRight(line, "{: "), maxHighlight)
	if line == "" || l.seen[line] {
		return
	}
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	l.seen[line] = true
	l.names = append(l.names, line)
}
