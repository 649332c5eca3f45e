package gitdiff

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// clip makes text from a box fit to be shown in one line: control characters, characters that turn or hide text and bytes
// that are not UTF-8 are written as escapes, and what is longer than limit runes is cut.
func clip(text string, limit int) string {
	var b strings.Builder
	n := 0
	for i, r := range text {
		if n++; n > limit {
			b.WriteString("…")
			break
		}
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case misleads(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
