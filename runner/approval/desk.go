package approval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"sandboxrun/agents"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/mailbox"
)

// Pending is a request that waits for a person.
type Pending struct {
	ID       string    `json:"id"` // within its run
	Run      string    `json:"run"`
	Deadline time.Time `json:"deadline"` // denied afterwards
	// Digest is the SHA-256 of the tool's name, a NUL and the exact input, in
	// hex. An answer names it, so that it is about what was shown.
	Digest    string            `json:"digest"`
	Tool      string            `json:"tool"`
	Action    agents.Action     `json:"action"`
	Input     []byte            `json:"-"` // what would run, known secrets hidden; Digest is of the exact bytes
	Questions []agents.Question `json:"questions,omitempty"`
	// Command is the command line of a call that runs one, "" of others.
	Command string `json:"-"`
}

// Answer is what a person says about a Pending.
type Answer struct {
	Allow   bool
	Reason  string              // told to the model when denied
	Answers map[string][]string // to questions, by their id
	By      string              // who answered, for the journal
	For     Scope               // which further requests it is for
}

// Asker shows a request to somebody. Ask returns an answer, or ok false when
// nobody gave one; it returns soon after ctx, which ends when the request is
// decided otherwise.
type Asker interface {
	Ask(ctx context.Context, p Pending) (a Answer, ok bool)
}

// Bounds of what an agent can put to people.
const (
	// MaxWaiting is how many requests of a run may wait at one time.
	MaxWaiting = 64
	// MaxShown bounds the input that a person is shown, in bytes. A longer one is
	// unreadable for a person, and can only be denied.
	MaxShown = 32 << 10
	// maxShownQuestions bounds the questions that are shown, in bytes.
	maxShownQuestions = 64 << 10
	// answerPoll is how often the mailbox is looked at while a request waits.
	answerPoll = 50 * time.Millisecond
)

// Desk puts requests of one run to people, at a terminal and through the run's
// mailbox. Any number of people may answer; the first counts, also against the
// deadline.
type Desk struct {
	Box  mailbox.Box
	Hide func([]byte) []byte // takes known secrets out of what is written; may be nil
	// Sync makes the journal durable: nobody may be shown a request that the
	// journal does not know. May be nil.
	Sync func()

	mu         sync.Mutex
	last       int
	waiting    int
	put        int
	remembered map[string]Answer // by digest
	allowed    []allowance
}

// Digest is the digest of a request, see [Pending].
func Digest(tool string, input []byte) string {
	h := sha256.New()
	h.Write([]byte(tool))
	h.Write([]byte{0})
	h.Write(input)
	return hex.EncodeToString(h.Sum(nil))
}

// Number gives the next request its id.
func (d *Desk) Number() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last++
	return fmt.Sprintf("a%d", d.last)
}

// admit counts a request that is to be put to people; full is the reason why it
// may not be.
func (d *Desk) admit() (full string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.waiting >= MaxWaiting:
		return fmt.Sprintf("%d requests of this run wait for a person already", d.waiting)
	case d.put >= mailbox.MaxRequests:
		return fmt.Sprintf("%d requests of this run were put to people, which is the most that may be", d.put)
	}
	d.waiting++
	d.put++
	return ""
}

func (d *Desk) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting--
}

// errApprovalTimeout ends the waiting for a person.
var errApprovalTimeout = errors.New("nobody answered in time")

// errAnsweredElsewhere ends a question at a terminal.
var errAnsweredElsewhere = errors.New("it was answered elsewhere")

// wait puts p to people until it is answered, its deadline passes or ctx ends. Whatever
// happens, one answer is in the mailbox afterwards, and it is the one that counts.
func (d *Desk) wait(ctx context.Context, p Pending, asker Asker) (Answer, error) {
	asked := mailbox.Asked{ID: p.ID, Run: p.Run, Digest: p.Digest, Tool: excerpt.HeadTail(p.Tool, 256), Action: p.Action, InputBytes: len(p.Input),
		Input: p.Input, Complete: true, Questions: p.Questions, AskedAt: time.Now().UTC(), Deadline: p.Deadline}
	shorten(&asked)
	if d.Sync != nil {
		d.Sync()
	}
	if err := d.Box.Ask(asked, d.Hide); err != nil {
		return Answer{}, err
	}
	ctx, cancel := context.WithDeadlineCause(ctx, p.Deadline, errApprovalTimeout)
	defer cancel()
	shown, hide := context.WithCancelCause(ctx)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer hide(errAnsweredElsewhere)
	unstored := make(chan error, 1)
	if asker != nil {
		asking.Go(func() {
			if a, ok := asker.Ask(shown, p); ok {
				if _, err := d.Box.Decide(letter(p, a)); err != nil {
					unstored <- err
				}
			}
		})
	}
	first, err := d.await(ctx, p, unstored)
	if err != nil {
		return Answer{}, err
	}
	return d.judge(p, asked.Complete, first)
}

// await returns the answer that counts once there is one. unstored has the error of an
// answer that could not be stored.
func (d *Desk) await(ctx context.Context, p Pending, unstored <-chan error) (mailbox.Answer, error) {
	again := time.NewTicker(answerPoll)
	defer again.Stop()
	for {
		if first, ok, err := d.Box.Given(p.ID); ok || err != nil {
			return first, err
		}
		select {
		case <-again.C:
		case err := <-unstored:
			return mailbox.Answer{}, err
		case <-ctx.Done():
			late := letter(p, Answer{Reason: "the run is being stopped", By: byNobody})
			if errors.Is(context.Cause(ctx), errApprovalTimeout) {
				late.Reason, late.TimedOut = errApprovalTimeout.Error(), true
			}
			return d.Box.Decide(late)
		}
	}
}

// judge takes an answer from the mailbox. What is not surely about this request
// is a denial.
func (d *Desk) judge(p Pending, complete bool, first mailbox.Answer) (Answer, error) {
	a := Answer{Allow: first.Decision == mailbox.Allow, Reason: first.Reason, Answers: first.Answers, By: first.By}
	switch {
	case first.TimedOut:
		return Answer{}, errApprovalTimeout
	case first.Digest != p.Digest:
		return Answer{}, mailbox.ErrDigest
	case a.Allow && !complete:
		return Answer{}, mailbox.ErrIncomplete
	}
	if first.Remember && first.Scope == "" {
		first.Scope = string(ScopeExact)
	}
	d.remember(p, a, Scope(first.Scope))
	return a, nil
}

func letter(p Pending, a Answer) mailbox.Answer {
	m := mailbox.Answer{ID: p.ID, Digest: p.Digest, Decision: mailbox.Deny, Reason: excerpt.HeadTail(a.Reason, 2<<10), Answers: a.Answers, By: a.By,
		Remember: a.For == ScopeExact, Scope: string(a.For)}
	if a.Allow {
		m.Decision = mailbox.Allow
	}
	return m
}

// shorten replaces what is too long for a person to read.
func shorten(a *mailbox.Asked) {
	if len(a.Input) > MaxShown || !json.Valid(a.Input) {
		a.Complete = len(a.Input) <= MaxShown
		a.Input, _ = json.Marshal(excerpt.HeadTail(string(a.Input), MaxShown)) //nolint:errchkjson // strings always marshal
	}
	if text, err := json.Marshal(a.Questions); err != nil || len(text) > maxShownQuestions {
		a.Questions, a.Complete = nil, false
	}
}
