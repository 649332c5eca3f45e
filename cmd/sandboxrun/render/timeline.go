package render

import (
	"fmt"
	"time"

	"sandboxrun/runner/journal"
)

// Timeline turns a run's events into lines with the time since its first event.
type Timeline struct{ began time.Time }

// Line formats one event, with colours where the terminal has them and cut to its width. It is empty for an event not
// worth a line.
func (t *Timeline) Line(e journal.Event, term Terminal) string {
	if t.began.IsZero() {
		t.began = e.Time
	}
	l := describe(e)
	if l.text == "" || term.IsTTY && l.plainOnly {
		return ""
	}
	head := fmt.Sprintf("%7.1fs  %-9s ", e.Time.Sub(t.began).Seconds(), Printable(e.Phase))
	room := 4 * defaultWidth
	if term.IsTTY {
		room = term.width
	}
	return term.Paint(ColorDim, head) + term.Paint(l.color, Fit(l.text, room-len(head)-1))
}
