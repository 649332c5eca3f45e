package approval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"sandboxrun/agents"
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
}

// Answer is what a person says about a Pending.
type Answer struct {
	Allow   bool
	Reason  string              // told to the model when denied
	Answers map[string][]string // to questions, by their id
	By      string              // who answered, for the journal
}

// Asker shows a request to somebody. Ask returns an answer, or ok false when
// nobody gave one; it returns soon after ctx, which ends when the request is
// decided otherwise.
type Asker interface {
	Ask(ctx context.Context, p Pending) (a Answer, ok bool)
}

// Errors of an answer that does not count.
var (
	ErrNotPending  = errors.New("no request with this id is waiting: it was answered, timed out, or never was")
	ErrOtherDigest = errors.New("the answer is about another request: its digest differs")
)

// Desk holds the requests of one run that wait for an answer. Any number of
// people may answer; the first counts.
type Desk struct {
	mu   sync.Mutex
	open map[string]*waiting
	last int
}

type waiting struct {
	Pending
	answer chan Answer // room for the one that counts
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

// wait puts p on the desk until it is answered or ctx ends.
func (d *Desk) wait(ctx context.Context, p Pending, asker Asker) (Answer, error) {
	w := &waiting{Pending: p, answer: make(chan Answer, 1)}
	d.mu.Lock()
	if d.open == nil {
		d.open = map[string]*waiting{}
	}
	d.open[p.ID] = w
	d.mu.Unlock()
	defer d.remove(p.ID)

	ctx, cancel := context.WithDeadlineCause(ctx, p.Deadline, errApprovalTimeout)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	if asker != nil {
		asking.Go(func() {
			if a, ok := asker.Ask(ctx, p); ok {
				_ = d.answer(p.ID, p.Digest, a) // somebody else was first
			}
		})
	}
	select {
	case a := <-w.answer:
		return a, nil
	case <-ctx.Done():
		// An answer that was taken counts, whatever else happened meanwhile.
		d.remove(p.ID)
		select {
		case a := <-w.answer:
			return a, nil
		default:
			return Answer{}, context.Cause(ctx)
		}
	}
}

var errApprovalTimeout = errors.New("nobody answered in time")

// answer decides an open request, once.
func (d *Desk) answer(id, digest string, a Answer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := d.open[id]
	if w == nil {
		return ErrNotPending
	}
	if digest != w.Digest {
		return ErrOtherDigest
	}
	delete(d.open, id)
	w.answer <- a
	return nil
}

func (d *Desk) remove(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, id)
}

// pending lists what waits, the oldest first.
func (d *Desk) pending() []Pending {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := []Pending{}
	for _, id := range slices.Sorted(maps.Keys(d.open)) {
		list = append(list, d.open[id].Pending)
	}
	slices.SortStableFunc(list, func(a, b Pending) int { return a.Deadline.Compare(b.Deadline) })
	return list
}
