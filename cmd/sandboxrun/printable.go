package main

import (
	"strings"

	"sandboxrun/runner"
)

// maxLine bounds the text of one line, in bytes, before it is made printable.
const maxLine = 8 << 10

// printable makes text of strangers one line that is safe for a terminal.
func printable(s string) string {
	return strings.ReplaceAll(printableKeepTabs(s), "\t", " ")
}

// printableKeepTabs is printable for text whose tabs are its layout.
func printableKeepTabs(s string) string {
	if len(s) > maxLine {
		s = s[:maxLine] + "…"
	}
	return strings.ReplaceAll(runner.Printable(strings.TrimRight(s, "\n")), "\n", " ⏎ ")
}
