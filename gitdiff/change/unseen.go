package change

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"sandboxrun/gitdiff"
)

// turnsText reports whether a character embeds, overrides or isolates the direction of the text that follows it
// (Unicode Standard Annex 9): source text with one can show another order of words than a compiler reads (CVE-2021-42574).
func turnsText(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

// unseenIn finds, among the added lines, the first character of each kind that people do not see as it is.
func unseenIn(e *lineEdit) []gitdiff.Finding {
	var turning, hidden sighting
	for i, line := range e.new {
		if e.put[i] && !plainLine(line) {
			look(line, i, &turning, &hidden)
		}
	}
	var out []gitdiff.Finding
	if turning.n > 0 {
		out = append(out, gitdiff.Finding{Code: gitdiff.BidiText, Detail: turning.String()})
	}
	if hidden.n > 0 {
		out = append(out, gitdiff.Finding{Code: gitdiff.InvisibleText, Detail: hidden.String()})
	}
	return out
}

// sighting is where a kind of character was seen first, and how often.
type sighting struct {
	r       rune
	line, n int
}

func (s *sighting) see(r rune, line int) {
	if s.n++; s.n == 1 {
		s.r, s.line = r, line
	}
}

func (s *sighting) String() string {
	text := fmt.Sprintf("line %d: U+%04X", s.line, s.r)
	if s.n > 1 {
		text += fmt.Sprintf("; %d in all", s.n)
	}
	return text
}

// plainLine reports whether a line is printable ASCII, tabs and form feeds, with one line end: nearly all are.
func plainLine(line string) bool {
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	for i := range len(line) {
		if b := line[i]; b < ' ' && b != '\t' && b != '\f' || b >= 0x7f {
			return false
		}
	}
	return true
}

func look(line string, index int, turning, hidden *sighting) {
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	var before rune
	for i, r := range line {
		switch {
		case r == utf8.RuneError, r == '\t', r == '\f':
		case turnsText(r):
			turning.see(r, index+1)
		case r == 0xfeff && i == 0 && index == 0: // a byte order mark
		case hides(r, before):
			hidden.see(r, index+1)
		}
		before = r
	}
}

// hides reports whether a character takes no place, or moves the cursor of a terminal. Joiners between letters that are
// not ASCII belong to scripts and to emoji.
func hides(r, before rune) bool {
	switch {
	case r == 0x200c, r == 0x200d:
		return before < utf8.RuneSelf
	case r >= 0xe0100 && r <= 0xe01ef: // variation selectors nobody draws; whole texts are hidden in them
		return true
	case r == 0x3164, r == 0xffa0, r == 0x115f, r == 0x1160: // fillers that are letters to a compiler
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == 0x2028 || r == 0x2029
}
