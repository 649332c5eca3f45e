// Package render shows runs to people: events as lines, a result as a report, a patch in colour, a table. Every text
// that a box could have influenced passes Printable.
package render

import (
	"io"
	"os"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"
)

// defaultWidth is assumed where a terminal does not report its width.
const defaultWidth = 80

// Terminal describes the terminal behind a stream. The zero value is a stream without one.
type Terminal struct {
	IsTTY bool // whether there is a terminal
	color bool
	width int // columns
}

// TerminalOf describes the terminal behind w. Colours follow https://no-color.org.
func TerminalOf(w io.Writer, getenv func(string) string) Terminal {
	f, ok := w.(*os.File)
	if !ok || !isatty.IsTerminal(f.Fd()) || getenv("TERM") == "dumb" {
		return Terminal{width: defaultWidth}
	}
	t := Terminal{IsTTY: true, color: getenv("NO_COLOR") == "", width: defaultWidth}
	if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil && size.Col > 0 {
		t.width = int(size.Col)
	}
	return t
}

// Colours by meaning, for Paint.
const (
	ColorGood = "32"
	ColorBad  = "31"
	ColorWarn = "33"
	ColorDim  = "2"
	ColorBold = "1"
	ColorNote = "36"
)

// Paint wraps s, which must be printable already, in a colour.
func (t Terminal) Paint(color, s string) string {
	if !t.color || color == "" || s == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}
