package render

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// WritePatch writes a patch for reading. Lines keep their tabs; one longer than
// maxLine is cut.
func WritePatch(w io.Writer, term Terminal, patch io.Reader) error {
	in := bufio.NewReaderSize(patch, MaxLine)
	out := bufio.NewWriter(w)
	for {
		line, cut, err := in.ReadLine()
		if errors.Is(err, io.EOF) {
			return out.Flush()
		}
		if err != nil {
			return fmt.Errorf("read patch: %w", err)
		}
		text := string(line)
		if cut {
			text += "…"
		}
		for cut && err == nil {
			_, cut, err = in.ReadLine() // the next iteration sees err again
		}
		fmt.Fprintln(out, term.Paint(patchColor(text), printableKeepTabs(text)))
	}
}

// patchColor is the colour of one line of a unified diff.
func patchColor(line string) string {
	for _, c := range []struct{ prefix, color string }{
		{"diff --git ", ColorBold}, {"--- ", ColorBold}, {"+++ ", ColorBold}, {"@@ ", ColorNote},
		{"+", ColorGood}, {"-", ColorBad}, {" ", ""}, {"\\", ColorDim},
	} {
		if strings.HasPrefix(line, c.prefix) {
			return c.color
		}
	}
	return ColorDim
}
