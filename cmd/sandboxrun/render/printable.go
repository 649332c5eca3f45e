package render

import (
	"fmt"
	"strings"

	"io"
	"text/tabwriter"

	"sandboxrun/runner/excerpt"
)

// MaxLine bounds the text of one line, in bytes, before it is made printable.
const MaxLine = 8 << 10

// Printable turns untrusted text into one line that is safe for a terminal.
func Printable(s string) string {
	return strings.ReplaceAll(printableKeepTabs(s), "\t", " ")
}

// printableKeepTabs is Printable for text with a layout made of tabs.
func printableKeepTabs(s string) string {
	if len(s) > MaxLine {
		s = s[:MaxLine] + "…"
	}
	return strings.ReplaceAll(excerpt.Printable(strings.TrimRight(s, "\n")), "\n", " ⏎ ")
}

// Indented makes an agent's text safe to show, line by line, each indented. It shows at most limit bytes.
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

// Table writes rows of printable cells in aligned columns.
func Table(w io.Writer, header []string, rows [][]string) error {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, row := range append([][]string{header}, rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = Printable(cell)
		}
		if _, err := fmt.Fprintln(tw, strings.Join(cells, "\t")); err != nil {
			return err
		}
	}
	return tw.Flush()
}

// TableFor is Table with its lines cut to a terminal's width; into a pipe they are whole.
func TableFor(w io.Writer, term Terminal, header []string, rows [][]string) error {
	if !term.IsTTY {
		return Table(w, header, rows)
	}
	var b strings.Builder
	if err := Table(&b, header, rows); err != nil {
		return err
	}
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		out.WriteString(Fit(strings.TrimRight(line, " \n"), term.width-1) + "\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// Fit cuts printable text to n columns and marks the cut. It counts runes: wider text wraps, which is harmless.
func Fit(s string, n int) string {
	if n < 1 {
		n = 1
	}
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}
