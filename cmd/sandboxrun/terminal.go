package main

import (
	"io"
	"os"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"
)

// defaultWidth is assumed where a terminal does not say how wide it is.
const defaultWidth = 80

// terminal describes the terminal behind a stream. The zero value is a stream
// that is none.
type terminal struct {
	is    bool
	color bool
	width int // columns
}

// terminalOf looks at w. Colours follow https://no-color.org.
func terminalOf(w io.Writer, getenv func(string) string) terminal {
	f, ok := w.(*os.File)
	if !ok || !isatty.IsTerminal(f.Fd()) || getenv("TERM") == "dumb" {
		return terminal{width: defaultWidth}
	}
	t := terminal{is: true, color: getenv("NO_COLOR") == "", width: defaultWidth}
	if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil && size.Col > 0 {
		t.width = int(size.Col)
	}
	return t
}

// Colours by meaning.
const (
	colorGood = "32"
	colorBad  = "31"
	colorWarn = "33"
	colorDim  = "2"
	colorBold = "1"
	colorNote = "36"
)

// paint wraps s, which must be printable already, in a colour.
func (t terminal) paint(color, s string) string {
	if !t.color || color == "" || s == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}
