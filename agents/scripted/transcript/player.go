package transcript

import (
	"errors"
	"fmt"
	"sync"
	"testing/synctest"
	"time"
)

const (
	// maxPending bounds how much of the host's words waits for the recording.
	maxPending = 1000
	// hostPatience is how long the host may take to say what is recorded, on the
	// bubble's clock; every limit of an adapter is shorter.
	hostPatience = time.Hour
)

// Player plays the agent's side of a transcript: it is a box whose processes, and
// a server whose answers, come from there. An entry of the agent is played once
// the host has said all that stands above it. A host that says something else
// ends the play.
type Player struct {
	began time.Time
	mark  func(name string)
	heard chan heard
	ended chan struct{} // closed when nothing more is played
	group sync.WaitGroup

	// These belong to the goroutine of run.
	pending []heard
	execs   []*playedExec
	calls   map[int]*playedCall
	chance  *chance

	mu     sync.Mutex
	err    error
	fronts []*front
}

// heard is something the host said, or did.
type heard struct {
	exec *playedExec // of a process: it begins with argv
	call *playedCall // begins a request
	argv []string
	text []byte
	end  bool // of standard input
}

// Play begins a play, inside of a bubble of package synctest only. It is the same
// every time: the clock is set to the day of the recording, and before every
// entry of the agent the host does whatever it is about to do, and waits as long
// as it was made to wait. mark is called for marks and may be nil.
func Play(entries []Entry, mark func(name string)) *Player {
	if mark == nil {
		mark = func(string) {}
	}
	p := &Player{began: time.Now(), mark: mark, heard: make(chan heard), ended: make(chan struct{}), calls: map[int]*playedCall{}, chance: newChance()}
	if len(entries) > 0 && entries[0].Began != nil {
		p.began = *entries[0].Began
		time.Sleep(time.Until(p.began)) //nolint:forbidigo // by the bubble's clock, which costs no time
		entries = entries[1:]
	}
	p.group.Go(func() { p.run(entries) })
	return p
}

// settle waits until it is time for an entry, and until the host waits for it.
func (p *Player) settle(e Entry) {
	time.Sleep(time.Until(p.began.Add(time.Duration(e.At) * time.Millisecond))) //nolint:forbidigo // by the bubble's clock, which costs no time
	synctest.Wait()
}

// End ends the play and waits for it. The error says where host and recording
// differ, or what of the recording was not reached. No process of the player may
// run any more.
func (p *Player) End() error {
	p.fail(nil)
	p.mu.Lock()
	fronts := p.fronts
	p.mu.Unlock()
	for _, f := range fronts {
		_ = f.close()
	}
	p.group.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Recorded is text of the host with the random words of the recording instead of
// its own. It is for what the host told by the end of the play.
func (p *Player) Recorded(text []byte) []byte { return p.chance.toRecorded(text) }

// same compares what the host said with the recording.
func (p *Player) same(e Entry, h heard) error {
	p.chance.bind(e.text(), h.text)
	h.text = p.chance.toRecorded(h.text)
	return same(e, h)
}

// fail ends the play. The first reason stays.
func (p *Player) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.ended:
		if p.err == nil {
			p.err = err
		}
	default:
		p.err = err
		close(p.ended)
	}
}

func (p *Player) run(entries []Entry) {
	for i, e := range entries {
		if err := p.step(e); err != nil {
			p.fail(fmt.Errorf("line %d of the recording: %w", i+2, err)) // the first says when it began
			return
		}
	}
	// What the host says now it said in no recording.
	for {
		synctest.Wait()
		select {
		case h := <-p.heard:
			p.pending = append(p.pending, h)
			continue
		default:
		}
		break
	}
	for _, h := range p.pending {
		if !h.end {
			p.fail(fmt.Errorf("the recording is over, but the host says: %s", h))
			return
		}
	}
}

func (p *Player) step(e Entry) error {
	switch {
	case e.Mark != "":
		p.settle(e)
		p.mark(e.Mark)
		return nil
	case e.From == Host && e.Exec != nil:
		return p.expectExec(e)
	case e.From == Host && e.HTTP != nil:
		return p.expectCall(e)
	case e.Exec != nil:
		p.settle(e)
		return p.sayExec(e)
	case e.HTTP != nil:
		p.settle(e)
		return p.sayCall(e)
	}
	return errors.New("belongs to nothing")
}

// await returns the first thing the host says that is wanted.
func (p *Player) await(e Entry, wanted func(heard) bool) (heard, error) {
	late := time.NewTimer(hostPatience)
	defer late.Stop()
	for i, over := 0, false; ; {
		for ; i < len(p.pending); i++ {
			if h := p.pending[i]; wanted(h) {
				p.pending = append(p.pending[:i], p.pending[i+1:]...)
				return h, nil
			}
		}
		if len(p.pending) > maxPending {
			return heard{}, errors.New("the host says too much that is not in it")
		}
		if over {
			err := fmt.Errorf("the host never said: %s", show(e))
			for _, h := range p.pending {
				err = fmt.Errorf("%w\nit said: %s", err, h)
			}
			return heard{}, err
		}
		select {
		case h := <-p.heard:
			p.pending = append(p.pending, h)
		case <-late.C:
			over = true
		case <-p.ended:
			over = true
		}
	}
}
