// Package excerpt bounds text and streams that strangers wrote, and makes them
// safe to show.
package excerpt

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clip cuts s to at most limit bytes, at the edge of a character, and makes it
// valid UTF-8.
func Clip(s string, limit int) string {
	if len(s) > limit {
		s = trimTail(s[:limit]) + "…"
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

// HeadTail keeps the beginning and the end of s, together at most limit bytes,
// around a marker of how much was left out. The result is valid UTF-8.
func HeadTail(s string, limit int) string {
	if len(s) <= limit {
		return strings.ToValidUTF8(s, "\ufffd")
	}
	return join(s[:limit/2], s[len(s)-limit/2:], int64(len(s)-limit/2*2))
}

// join puts a marker between head and tail. Characters that the cuts split are
// dropped and counted as left out.
func join(head, tail string, omitted int64) string {
	h, t := trimTail(head), trimHead(tail)
	omitted += int64(len(head) - len(h) + len(tail) - len(t))
	s := fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", h, omitted, t)
	return strings.ToValidUTF8(s, "\ufffd")
}

// trimTail drops the beginning of a character whose rest was cut off.
func trimTail(s string) string {
	for i := 1; i < utf8.UTFMax && i <= len(s); i++ {
		if b := s[len(s)-i]; utf8.RuneStart(b) {
			if !utf8.FullRuneInString(s[len(s)-i:]) {
				return s[:len(s)-i]
			}
			break
		}
	}
	return s
}

// trimHead drops the end of a character whose beginning was cut off.
func trimHead(s string) string {
	for i := 0; i < utf8.UTFMax && i < len(s); i++ {
		if utf8.RuneStart(s[i]) {
			return s[i:]
		}
	}
	return s
}

// Printable makes text of strangers safe for a terminal: control characters
// (newline and tab excepted), escape sequences, invisible format characters
// (among them those that change the direction of text), line separators and
// bytes that are not UTF-8 come out as Go escapes.
func Printable(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, width := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && width == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n', r == '\t':
			b.WriteRune(r)
		case r < 0x20, r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case Unseen(r):
			if r > 0xffff {
				fmt.Fprintf(&b, `\U%08x`, r)
			} else {
				fmt.Fprintf(&b, `\u%04x`, r)
			}
		default:
			b.WriteRune(r)
		}
		i += width
	}
	return b.String()
}

// Unseen says that a character steers what shows text, or does not show itself.
func Unseen(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
}

// Plural writes a number with its noun.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
