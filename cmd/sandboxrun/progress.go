package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"sandboxrun/runner"
)

// progressQueue is how many events may wait for a slow terminal. What does not
// fit is counted, not waited for: the journal has it.
const progressQueue = 4096

// progressGrace is how long the end of a run waits for a terminal that takes
// nothing more.
const progressGrace = 2 * time.Second

// progress shows a run on standard error while it happens: one line for what is
// worth one, and on a terminal a last line that says which phase runs since when.
type progress struct {
	w       io.Writer
	term    terminal
	queue   chan runner.Event
	done    chan struct{}
	skipped atomic.Int64
	screen  *sync.Mutex // held by whoever draws on the terminal, also by a question

	// Owned by the goroutine that draws.
	tale       tale
	phase      string
	phaseBegan time.Time
	shown      string // status line that is on the terminal
}

// showProgress starts drawing on w until close is called.
func showProgress(w io.Writer, term terminal, screen *sync.Mutex) *progress {
	p := &progress{w: w, term: term, screen: screen, queue: make(chan runner.Event, progressQueue), done: make(chan struct{})}
	go p.draw()
	return p
}

// event takes one event. It never blocks.
func (p *progress) event(e runner.Event) {
	select {
	case p.queue <- e:
	default:
		p.skipped.Add(1)
	}
}

// close draws what is left. A writer that blocks longer than progressGrace is
// left to the end of the process, so that nobody can hold a result back by not
// reading its progress.
func (p *progress) close() {
	close(p.queue)
	select {
	case <-p.done:
	case <-time.After(progressGrace):
	}
}

func (p *progress) draw() {
	defer close(p.done)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var ticks <-chan time.Time
	if p.term.is {
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
func (p *progress) show(e runner.Event) {
	switch e.Kind {
	case runner.EventPhaseStarted:
		p.phase, p.phaseBegan = e.Phase, e.Time
	case runner.EventPhaseEnded:
		p.phase = ""
	}
	if text := p.tale.line(e, p.term); text != "" {
		p.erase()
		fmt.Fprintln(p.w, text)
	}
}

// status draws the line of the phase under way, where it is not there already.
func (p *progress) status() {
	text := ""
	if p.phase != "" {
		text = fmt.Sprintf("%10s%s … %.0f s", "", p.phase, max(0, time.Since(p.phaseBegan).Seconds()))
	}
	if p.term.is && text != p.shown {
		fmt.Fprint(p.w, "\r", p.term.paint(colorDim, fit(text, p.term.width-1)), "\x1b[K")
		p.shown = text
	}
}

// erase takes the status line away, so that a line can stand in its place.
func (p *progress) erase() {
	if p.shown != "" {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = ""
	}
}
