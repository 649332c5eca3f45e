package main

import (
	"fmt"
	"time"

	"sandboxrun/runner"
)

// tale turns a run's events into lines with the time since its first event.
type tale struct{ began time.Time }

// line tells one event, with colours where the terminal has them and cut to its
// width. It is empty for an event not worth a line.
func (t *tale) line(e runner.Event, term terminal) string {
	if t.began.IsZero() {
		t.began = e.Time
	}
	l := describe(e)
	if l.text == "" || term.is && l.plainOnly {
		return ""
	}
	head := fmt.Sprintf("%7.1fs  %-9s ", e.Time.Sub(t.began).Seconds(), printable(e.Phase))
	room := 4 * defaultWidth
	if term.is {
		room = term.width
	}
	return term.paint(colorDim, head) + term.paint(l.color, fit(l.text, room-len(head)-1))
}
