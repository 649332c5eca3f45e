package approval

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// slowAsker answers when it is told to.
type slowAsker struct {
	shown  chan Pending
	answer chan Answer
}

func (s slowAsker) Ask(ctx context.Context, p Pending) (Answer, bool) {
	s.shown <- p
	select {
	case a := <-s.answer:
		return a, true
	case <-ctx.Done():
		return Answer{}, false
	}
}

func aPending(in time.Duration) Pending {
	return Pending{ID: "a1", Digest: Digest("Bash", []byte("x")), Deadline: time.Now().Add(in)}
}

func TestTheFirstAnswerCounts(t *testing.T) {
	t.Parallel()
	var d Desk
	asker := slowAsker{shown: make(chan Pending, 1), answer: make(chan Answer, 1)}
	p := aPending(time.Minute)
	var got Answer
	var err error
	var group sync.WaitGroup
	group.Go(func() { got, err = d.wait(t.Context(), p, asker) })
	<-asker.shown
	if list := d.pending(); len(list) != 1 || list[0].ID != "a1" {
		t.Errorf("pending = %+v", list)
	}
	if e := d.answer("a1", "another", Answer{Allow: true}); !errors.Is(e, ErrOtherDigest) {
		t.Errorf("an answer about something else: %v", e)
	}
	if e := d.answer("a1", p.Digest, Answer{Allow: true, By: "http"}); e != nil {
		t.Errorf("answer: %v", e)
	}
	if e := d.answer("a1", p.Digest, Answer{}); !errors.Is(e, ErrNotPending) {
		t.Errorf("second answer: %v", e)
	}
	group.Wait()
	if err != nil || !got.Allow || got.By != "http" {
		t.Errorf("answer = %+v, %v", got, err)
	}
	if len(d.pending()) != 0 {
		t.Error("it still waits")
	}
}

func TestNoAnswerInTimeIsToldApart(t *testing.T) {
	t.Parallel()
	var d Desk
	asker := slowAsker{shown: make(chan Pending, 1)}
	if _, err := d.wait(t.Context(), aPending(20*time.Millisecond), asker); !errors.Is(err, errApprovalTimeout) {
		t.Errorf("error = %v, want a timeout", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	cancel(stop)
	if _, err := d.wait(ctx, aPending(time.Minute), nil); !errors.Is(err, stop) {
		t.Errorf("error = %v, want the cause", err)
	}
	if e := d.answer("a1", aPending(0).Digest, Answer{Allow: true}); !errors.Is(e, ErrNotPending) {
		t.Errorf("late answer: %v", e)
	}
}

func TestDigestsKeepToolAndInputApart(t *testing.T) {
	t.Parallel()
	if Digest("ab", []byte("c")) == Digest("a", []byte("bc")) {
		t.Error("two requests share a digest")
	}
}
