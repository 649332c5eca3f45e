package render

import (
	"fmt"
	"strings"

	"sandboxrun/runner/excerpt"
)

// MaxLine bounds the text of one line, in bytes, before it is made printable.
const MaxLine = 8 << 10

// Printable makes text of strangers one line that is safe for a terminal.
func Printable(s string) string {
	return strings.ReplaceAll(printableKeepTabs(s), "\t", " ")
}

// printableKeepTabs is printable for text whose tabs are its layout.
func printableKeepTabs(s string) string {
	if len(s) > MaxLine {
		s = s[:MaxLine] + "…"
	}
	return strings.ReplaceAll(excerpt.Printable(strings.TrimRight(s, "\n")), "\n", " ⏎ ")
}

// Indented makes text of an agent safe to show, line by line, each indented. At
// most limit bytes of it are shown.
func Indented(text string, limit int) string {
	if len(text) > limit {
		text = text[:limit]
	}
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		for len(line) > MaxLine {
			fmt.Fprintf(&b, "  %s\n", Printable(line[:MaxLine]))
			line = line[MaxLine:]
		}
		fmt.Fprintf(&b, "  %s\n", Printable(line))
	}
	return b.String()
}
