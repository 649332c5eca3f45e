package gitname

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// deviceNames are what Windows takes for a device, whatever extension follows.
var deviceNames = map[string]bool{
	"con": true, "prn": true, "aux": true, "nul": true,
	"com1": true, "com2": true, "com3": true, "com4": true, "com5": true, "com6": true, "com7": true, "com8": true, "com9": true,
	"lpt1": true, "lpt2": true, "lpt3": true, "lpt4": true, "lpt5": true, "lpt6": true, "lpt7": true, "lpt8": true, "lpt9": true,
}

// Unusual says in a few words why a component misleads a reader or cannot be checked out elsewhere; "" when it does not.
func Unusual(name string) string {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch {
	case !utf8.ValidString(name):
		return "not valid utf-8"
	case strings.ContainsFunc(name, Misleads):
		return "control or direction characters"
	case strings.HasPrefix(name, "-"):
		return "reads as an option"
	case strings.HasPrefix(name, " ") || strings.TrimRight(name, " .") != name:
		return "leading space, or trailing space or dot"
	case strings.ContainsAny(name, `<>:"|?*\`):
		return "characters windows refuses"
	case deviceNames[strings.TrimRight(stem, " ")]:
		return "a windows device name"
	}
	return ""
}

// Misleads reports whether a rune moves the cursor, hides itself or turns the direction of text around.
func Misleads(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// Clip makes text from a box fit to be shown in one line: control characters, characters that turn or hide text and bytes
// that are not UTF-8 are written as escapes, and what is longer than limit runes is cut.
func Clip(text string, limit int) string {
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
		case Misleads(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
