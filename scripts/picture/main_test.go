package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

const typescript = "Script started\r\n" +
	"Model: SCRIPTED\r\n" +
	"\x1b[2m    0.0s            \x1b[0m\x1b[1mrun 1 a < b\x1b[0m\r\n" +
	"\r\x1b[2m   open … 0 s\x1b[0m\x1b[K\r\x1b[K\x1b[2m    3.0s  open      \x1b[0mdone\r\n" +
	"\r\n\x1b[32msuccess\x1b[0m  1 file changed\r\n\x1b[1mgit\x1b[0m\r\n  branch x\r\n"

func TestPictureShowsTheFinalScreen(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := draw(strings.NewReader(typescript), &out); err != nil {
		t.Fatal(err)
	}
	svg := out.String()
	for _, want := range []string{"run 1 a &lt; b", "animation-delay:1.00s", `<tspan fill="#7ee787">success</tspan>  1 file changed`} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in:\n%s", want, svg)
		}
	}
	for _, not := range []string{"Model:", "open …", "branch x", "\x1b"} {
		if strings.Contains(svg, not) {
			t.Errorf("%q is in the picture:\n%s", not, svg)
		}
	}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("not XML: %v", err)
		}
	}
	if err := draw(strings.NewReader("nothing\n"), io.Discard); err == nil {
		t.Error("an input without a run gives a picture")
	}
}
