// Command picture draws the terminal output of a run as an SVG for the README: it reads the bytes that a program wrote
// to a terminal on standard input and writes the picture to standard output. Lines that begin with a time ("2.5s")
// appear at that time, three times as fast.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
)

func main() {
	if err := draw(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// Measures of the picture, in pixels.
const (
	lineHeight = 19
	charWidth  = 8.0
	margin     = 16
	columns    = 108
)

// speed is how many seconds of a run one second of the picture shows.
const speed = 3.0

// Colours of the parameters of the escape sequence SGR that the program uses.
var colours = map[string]string{
	"1": "#ffffff", "2": "#8b949e", "31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "36": "#79c0ff",
}

var (
	sgr      = regexp.MustCompile(`\x1b\[([0-9;]*)m`)
	began    = regexp.MustCompile(`^\s*([0-9]+\.[0-9])s `)
	nextFrom = regexp.MustCompile(`^(success|partial|failed) `)
)

func draw(in io.Reader, out io.Writer) error {
	lines, err := readScreen(in)
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		return errors.New("no line of a run in the input")
	}
	w := bufio.NewWriter(out)
	width, height := int(columns*charWidth)+2*margin, len(lines)*lineHeight+2*margin
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="A run of sandboxrun in a terminal">`+"\n",
		width, height, width, height)
	fmt.Fprint(w, `<style>text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#c9d1d9;white-space:pre}
@keyframes a{from{opacity:0}to{opacity:1}}@media(prefers-reduced-motion:no-preference){.l{animation:a .1s backwards}}</style>`+"\n")
	fmt.Fprintf(w, `<rect width="%d" height="%d" rx="8" fill="#0d1117"/>`+"\n", width, height)
	at := 0.0
	for i, line := range lines {
		plain := sgr.ReplaceAllString(line, "")
		if m := began.FindStringSubmatch(plain); m != nil {
			seconds, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				return fmt.Errorf("read the time of %q: %w", plain, err)
			}
			at = seconds / speed
		}
		fmt.Fprintf(w, `<text class="l" style="animation-delay:%.2fs" x="%d" y="%d" xml:space="preserve">%s</text>`+"\n",
			at, margin, margin+(i+1)*lineHeight-6, spans(line))
	}
	fmt.Fprintln(w, "</svg>")
	return w.Flush()
}

// readScreen returns the lines of the run and of the report's beginning in their final state: without text that a
// carriage return overwrote.
func readScreen(in io.Reader) ([]string, error) {
	var lines []string
	inRun, inReport := false, false
	s := bufio.NewScanner(in)
	for s.Scan() {
		line := strings.TrimRight(s.Text(), "\r")
		if i := strings.LastIndexByte(line, '\r'); i >= 0 {
			line = line[i+1:]
		}
		line = strings.ReplaceAll(line, "\x1b[K", "")
		plain := sgr.ReplaceAllString(line, "")
		inRun = inRun || began.MatchString(plain)
		inReport = inReport || inRun && nextFrom.MatchString(plain)
		if inReport && plain == "git" {
			break // the rest is not part of the picture
		}
		if inRun && (inReport || began.MatchString(plain) || plain == "") {
			lines = append(lines, line)
		}
	}
	return lines, s.Err()
}

// spans turns one line into coloured spans, cut at the picture's width.
func spans(line string) string {
	var b strings.Builder
	colour, left := "", columns
	write := func(text string) {
		runes := []rune(text)
		runes = runes[:min(left, len(runes))]
		left -= len(runes)
		if len(runes) == 0 {
			return
		}
		text = html.EscapeString(string(runes))
		if colour == "" {
			b.WriteString(text)
			return
		}
		fmt.Fprintf(&b, `<tspan fill="%s">%s</tspan>`, colour, text)
	}
	at := 0
	for _, m := range sgr.FindAllStringSubmatchIndex(line, -1) {
		write(line[at:m[0]])
		colour, at = colours[line[m[2]:m[3]]], m[1]
	}
	write(line[at:])
	return b.String()
}
