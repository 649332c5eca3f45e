package render

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"sandboxrun/runner/journal"
)

// progressQueue is how many events may wait for a slow terminal. What does not
// fit is counted, not waited for: the journal has it.
const progressQueue = 4096

// progressGrace is how long the end of a run waits for a terminal that takes
// nothing more.
const progressGrace = 2 * time.Second

// Progress shows a run on standard error while it happens: one line for what is
// worth one, and on a terminal a last line that says which phase runs since when.
type Progress struct {
	w       io.Writer
	term    Terminal
	queue   chan journal.Event
	done    chan struct{}
	skipped atomic.Int64
	screen  *sync.Mutex // held by whoever draws on the terminal, also by a question

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

// Close draws what is left. A writer that blocks longer than progressGrace is
// left to the end of the process, so that nobody can hold a result back by not
// reading its progress.
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
	if text := p.timeline.Line(e, p.term); text != "" {
		p.erase()
		fmt.Fprintln(p.w, text)
	}
}

// status draws the line of the phase under way, where it is not there already.
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

// erase takes the status line away, so that a line can stand in its place.
func (p *Progress) erase() {
	if p.shown != "" {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = ""
	}
}
