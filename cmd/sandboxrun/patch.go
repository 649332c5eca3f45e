package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// printPatch copies a patch to standard output: byte for byte into a pipe or
// file, escaped and coloured on a terminal.
func (p *program) printPatch(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("open patch: %w", err)
	}
	defer f.Close()
	if term := terminalOf(p.stdout, p.getenv); term.is {
		return showPatch(p.stdout, term, f)
	}
	if _, err := io.Copy(p.stdout, f); err != nil {
		return fmt.Errorf("print patch: %w", err)
	}
	return nil
}

// showPatch writes a patch for reading. Lines keep their tabs; one longer than
// maxLine is cut.
func showPatch(w io.Writer, term terminal, patch io.Reader) error {
	in := bufio.NewReaderSize(patch, maxLine)
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
			_, cut, err = in.ReadLine() // the next round meets err again
		}
		fmt.Fprintln(out, term.paint(patchColor(text), printableKeepTabs(text)))
	}
}

// patchColor is the colour of one line of a unified diff.
func patchColor(line string) string {
	for _, c := range []struct{ prefix, color string }{
		{"diff --git ", colorBold}, {"--- ", colorBold}, {"+++ ", colorBold}, {"@@ ", colorNote},
		{"+", colorGood}, {"-", colorBad}, {" ", ""}, {"\\", colorDim},
	} {
		if strings.HasPrefix(line, c.prefix) {
			return c.color
		}
	}
	return colorDim
}
