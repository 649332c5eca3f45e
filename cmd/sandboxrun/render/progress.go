package render

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"sandboxrun/runner/journal"
)

// progressQueue is how many events may wait for a slow terminal. Further ones are counted and skipped: the journal has
// them.
const progressQueue = 4096

// progressGrace is how long the end of a run waits for a blocked terminal.
const progressGrace = 2 * time.Second

// Progress shows a run on standard error while it happens: one line per event worth one, and on a terminal a last line
// with the current phase and its duration.
type Progress struct {
	w       io.Writer
	term    Terminal
	queue   chan journal.Event
	done    chan struct{}
	skipped atomic.Int64
	screen  *sync.Mutex // held while drawing on the terminal, also by a question

	// Owned by the goroutine that draws.
	timeline   Timeline
	phase      string
	phaseBegan time.Time
	shown      string // status line that is on the terminal
}

// ShowProgress starts drawing on w until close is called.
func ShowProgress(w io.Writer, term Terminal, screen *sync.Mutex) *Progress {
	p := &Progress{w: w, term: term, screen: screen, queue: make(chan journal.Event, progressQueue), done: make(chan struct{})}
	go p.draw()
	return p
}

// Event takes one event. It never blocks.
func (p *Progress) Event(e journal.Event) {
	select {
	case p.queue <- e:
	default:
		p.skipped.Add(1)
	}
}

// Close draws what is left. A writer that blocks longer than progressGrace is abandoned until the process ends, so
// that not reading the progress cannot delay a result.
func (p *Progress) Close() {
	close(p.queue)
	select {
	case <-p.done:
	case <-time.After(progressGrace):
	}
}

func (p *Progress) draw() {
	defer close(p.done)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var ticks <-chan time.Time
	if p.term.IsTTY {
		ticks = tick.C
	}
	for {
		select {
		case e, ok := <-p.queue:
			if !ok {
				p.screen.Lock()
				defer p.screen.Unlock()
				p.erase()
				if n := p.skipped.Load(); n > 0 {
					fmt.Fprintf(p.w, "%d progress lines were skipped; \"sandboxrun runs logs\" has them\n", n)
				}
				return
			}
			p.screen.Lock()
			p.show(e)
		case <-ticks:
			p.screen.Lock()
		}
		p.status()
		p.screen.Unlock()
	}
}

// show draws one event, if it is worth a line.
func (p *Progress) show(e journal.Event) {
	switch e.Kind {
	case journal.EventPhaseStarted:
		p.phase, p.phaseBegan = e.Phase, e.Time
	case journal.EventPhaseEnded:
		p.phase = ""
	}
	if !p.term.IsTTY && p.routine(e) {
		return
	}
	if text := p.timeline.Line(e, p.term); text != "" {
		p.erase()
		fmt.Fprintln(p.w, text)
	}
}

// noteworthyMS is the least duration of a phase, in milliseconds, whose end gets a line in a file or pipe.
const noteworthyMS = 1000

// routine says that an event only tells that a phase began, or ended well after a moment: in a log that is noise.
func (p *Progress) routine(e journal.Event) bool {
	switch e.Kind {
	case journal.EventPhaseStarted:
		return true
	case journal.EventPhaseEnded:
		var d journal.PhaseEnded
		return json.Unmarshal(e.Data, &d) == nil && d.Error == "" && d.DurationMS < noteworthyMS
	}
	return false
}

// status draws the line of the current phase, unless it is shown already.
func (p *Progress) status() {
	text := ""
	if p.phase != "" {
		text = fmt.Sprintf("%10s%s … %.0f s", "", p.phase, max(0, time.Since(p.phaseBegan).Seconds()))
	}
	if p.term.IsTTY && text != p.shown {
		fmt.Fprint(p.w, "\r", p.term.Paint(ColorDim, Fit(text, p.term.width-1)), "\x1b[K")
		p.shown = text
	}
}

// erase removes the status line, so that another line can take its place.
func (p *Progress) erase() {
	if p.shown != "" {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = ""
	}
}
