package transcript

import (
	"errors"
	"fmt"
	"testing/synctest"
	"time"
)

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

// Recorded is text of the host with the random words of the recording instead of
// its own. It is for what the host told by the end of the play.
func (p *Player) Recorded(text []byte) []byte { return p.chance.toRecorded(text) }
