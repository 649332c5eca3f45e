package approval

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sandboxrun/agents"
	"sandboxrun/runner/document"
	"sandboxrun/runner/mailbox"
	"sandboxrun/runner/plan"
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

func aDesk(t *testing.T) *Desk {
	t.Helper()
	return &Desk{Box: mailbox.At(t.TempDir())}
}

func aPending(in time.Duration) Pending {
	input := []byte(`{"command":"x"}`)
	return Pending{ID: "a1", Tool: "Bash", Input: input, Digest: Digest("Bash", input), Deadline: time.Now().Add(in)}
}

func asking() *plan.Agent {
	return &plan.Agent{Approvals: document.ApprovalPlan{Policy: document.ApproveAsk, TimeoutSeconds: 60}}
}

// decide puts p to people and returns the decision once it is made.
func decide(ctx context.Context, d *Desk, p Pending, asker Asker) (Answer, bool) {
	return d.Decide(ctx, asking(), asker, agents.ApprovalRequest{Tool: p.Tool, Input: p.Input, Questions: p.Questions}, p)
}

func waitUntilAsked(t *testing.T, d *Desk, id string) {
	t.Helper()
	again, limit := time.NewTicker(5*time.Millisecond), time.After(10*time.Second)
	defer again.Stop()
	for {
		if _, err := d.Box.Request(id); err == nil {
			return
		}
		select {
		case <-again.C:
		case <-limit:
			t.Fatalf("request %s was never put", id)
		}
	}
}

func allow(digest, by string) mailbox.Answer {
	return mailbox.Answer{ID: "a1", Digest: digest, Decision: mailbox.Allow, By: by}
}

func TestAnAnswerFromElsewhereEndsTheQuestionAtTheTerminal(t *testing.T) {
	t.Parallel()
	d, asker, p := aDesk(t), slowAsker{shown: make(chan Pending, 1), answer: make(chan Answer, 1)}, aPending(time.Minute)
	synced := false
	d.Sync = func() {
		if _, err := d.Box.Request(p.ID); err == nil {
			t.Error("the request was shown before the journal was durable")
		}
		synced = true
	}
	var got Answer
	var late bool
	var group sync.WaitGroup
	group.Go(func() { got, late = decide(t.Context(), d, p, asker) })
	<-asker.shown
	if err := d.Box.Answer(allow("another", "http"), time.Now()); !errors.Is(err, mailbox.ErrDigest) {
		t.Errorf("an answer about something else: %v", err)
	}
	if err := d.Box.Answer(allow(p.Digest, "http"), time.Now()); err != nil {
		t.Errorf("answer: %v", err)
	}
	group.Wait()
	if late || !got.Allow || got.By != "http" || !synced {
		t.Errorf("answer = %+v, late %v, synced %v", got, late, synced)
	}
	if err := d.Box.Answer(allow(p.Digest, "me"), time.Now()); !errors.Is(err, mailbox.ErrAnswered) {
		t.Errorf("second answer: %v", err)
	}
}

func TestTheTerminalAnswersThroughTheMailbox(t *testing.T) {
	t.Parallel()
	d, asker, p := aDesk(t), slowAsker{shown: make(chan Pending, 1), answer: make(chan Answer, 1)}, aPending(time.Minute)
	asker.answer <- Answer{Allow: true, By: "terminal"}
	if a, late := decide(t.Context(), d, p, asker); !a.Allow || late {
		t.Errorf("%+v, %v", a, late)
	}
	if given, ok, err := d.Box.Given("a1"); !ok || err != nil || given.By != "terminal" || given.Decision != mailbox.Allow {
		t.Errorf("stored %+v, %v, %v", given, ok, err)
	}
}

func TestNoAnswerInTimeIsToldApart(t *testing.T) {
	t.Parallel()
	d := aDesk(t)
	if a, late := decide(t.Context(), d, aPending(20*time.Millisecond), nil); a.Allow || !late || a.By != "nobody" {
		t.Errorf("%+v, %v", a, late)
	}
	if err := d.Box.Answer(allow(aPending(0).Digest, "me"), time.Now()); !errors.Is(err, mailbox.ErrExpired) {
		t.Errorf("late answer: %v", err)
	}
	d = aDesk(t)
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		if a, late := decide(ctx, d, aPending(time.Minute), nil); a.Allow || late || a.Reason != "the run is being stopped" {
			t.Errorf("%+v, %v", a, late)
		}
	})
	waitUntilAsked(t, d, "a1")
	cancel()
	group.Wait()
	if _, ok, err := d.Box.Given("a1"); !ok || err != nil {
		t.Errorf("a request of a stopped run has no answer: %v", err)
	}
}

func TestADamagedAnswerDenies(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"half":            `{"id":"a1","decision":"allow"`,
		"another digest":  `{"id":"a1","digest":"0","decision":"allow","by":"me"}`,
		"another request": `{"id":"a2","digest":"` + aPending(0).Digest + `","decision":"allow","by":"me"}`,
	} {
		dir := t.TempDir()
		d := &Desk{Box: mailbox.At(dir)}
		var group sync.WaitGroup
		group.Go(func() {
			if a, late := decide(t.Context(), d, aPending(time.Minute), nil); a.Allow || late || !strings.Contains(a.Reason, "could not be put to a person") {
				t.Errorf("%s: %+v, %v", name, a, late)
			}
		})
		waitUntilAsked(t, d, "a1")
		if err := os.WriteFile(filepath.Join(dir, "approvals", "a1.answer.json"), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		group.Wait()
	}
}

func TestARememberedAnswerIsForExactlyThisRequest(t *testing.T) {
	t.Parallel()
	d, p := aDesk(t), aPending(time.Minute)
	var group sync.WaitGroup
	group.Go(func() {
		if a, _ := decide(t.Context(), d, p, nil); !a.Allow {
			t.Errorf("%+v", a)
		}
	})
	waitUntilAsked(t, d, "a1")
	yes := allow(p.Digest, "me")
	yes.Remember = true
	if err := d.Box.Answer(yes, time.Now()); err != nil {
		t.Fatal(err)
	}
	group.Wait()
	p.ID = "a2"
	if a, _ := decide(t.Context(), d, p, nil); !a.Allow || a.By != "me, remembered" {
		t.Errorf("the same request: %+v", a)
	}
	if _, err := d.Box.Request("a2"); !errors.Is(err, mailbox.ErrNotFound) {
		t.Errorf("a remembered request was put to people: %v", err)
	}
	other := aPending(20 * time.Millisecond)
	other.ID, other.Input = "a3", []byte(`{"command":"x "}`)
	other.Digest = Digest("Bash", other.Input)
	if a, late := decide(t.Context(), d, other, nil); a.Allow || !late {
		t.Errorf("another request: %+v", a)
	}
}

func TestAFloodOfRequestsIsBounded(t *testing.T) {
	t.Parallel()
	d := aDesk(t)
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for range MaxWaiting {
		p := aPending(time.Minute)
		p.ID = d.Number()
		group.Go(func() { decide(ctx, d, p, nil) })
		waitUntilAsked(t, d, p.ID)
	}
	p := aPending(time.Minute)
	p.ID = d.Number()
	if a, late := decide(ctx, d, p, nil); a.Allow || late || !strings.Contains(a.Reason, "64 requests") {
		t.Errorf("%+v, %v", a, late)
	}
	cancel()
	group.Wait()
	d.put = mailbox.MaxRequests
	if a, late := decide(t.Context(), d, p, nil); a.Allow || late || !strings.Contains(a.Reason, "1000 requests") {
		t.Errorf("%+v, %v", a, late)
	}
}

func TestWhatIsTooLongToReadCanOnlyBeDenied(t *testing.T) {
	t.Parallel()
	long := aPending(time.Minute)
	long.Input = []byte(`{"command":"` + strings.Repeat("x", MaxShown) + `"}`)
	questions := aPending(time.Minute)
	questions.Questions = []agents.Question{{ID: "q", Text: strings.Repeat("x", maxShownQuestions)}}
	for _, p := range []Pending{long, questions} {
		d := aDesk(t)
		var group sync.WaitGroup
		group.Go(func() {
			if a, _ := decide(t.Context(), d, p, nil); a.Allow {
				t.Errorf("%+v", a)
			}
		})
		waitUntilAsked(t, d, "a1")
		if asked, err := d.Box.Request("a1"); err != nil || asked.Complete {
			t.Errorf("complete %v, %v", asked.Complete, err)
		}
		if err := d.Box.Answer(allow(p.Digest, "me"), time.Now()); !errors.Is(err, mailbox.ErrIncomplete) {
			t.Errorf("allowed: %v", err)
		}
		// Not even a file that somebody forged.
		if _, err := d.Box.Decide(allow(p.Digest, "me")); err != nil {
			t.Error(err)
		}
		group.Wait()
	}
}

func TestDigestsKeepToolAndInputApart(t *testing.T) {
	t.Parallel()
	if Digest("ab", []byte("c")) == Digest("a", []byte("bc")) {
		t.Error("two requests share a digest")
	}
}
