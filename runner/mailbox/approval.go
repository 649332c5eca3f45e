package mailbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"sandboxrun/agents"
	"sandboxrun/runner/document"
	"sandboxrun/runner/excerpt"
)

// Bounds of the files, in bytes, and of what an answer holds.
const (
	maxAsked      = 1 << 20
	maxAnswer     = 256 << 10
	maxReason     = 4 << 10
	maxQuestions  = 64
	maxChoices    = 64
	maxChoiceText = 4 << 10
	// MaxRequests bounds the requests of one run that are put to people.
	MaxRequests = 1000
)

// Asked is a request of the agent that waits for a person.
type Asked struct {
	SchemaVersion int             `json:"schema_version"`
	ID            string          `json:"id"` // within the run
	Run           string          `json:"run_id"`
	Digest        string          `json:"digest"` // of the tool and its exact input; the answer names it
	Tool          string          `json:"tool"`
	Action        agents.Action   `json:"action"`
	Input         json.RawMessage `json:"input"` // known secrets hidden; a string of head and tail where it is too long
	InputBytes    int             `json:"input_bytes"`
	// Complete says that Input is all there is to read. Another request can only be denied.
	Complete  bool              `json:"complete"`
	Questions []agents.Question `json:"questions,omitempty"`
	AskedAt   time.Time         `json:"asked_at"`
	Deadline  time.Time         `json:"deadline"` // denied afterwards
}

// Decision is the verdict of an answer.
type Decision string

// Decisions.
const (
	Allow Decision = "allow"
	Deny  Decision = "deny"
)

// Answer decides a request.
type Answer struct {
	SchemaVersion int                 `json:"schema_version"`
	ID            string              `json:"id"`
	Digest        string              `json:"digest"` // of the request that was shown
	Decision      Decision            `json:"decision"`
	Reason        string              `json:"reason,omitempty"`   // told to the model when denied
	Answers       map[string][]string `json:"answers,omitempty"`  // to questions, by their id
	Remember      bool                `json:"remember,omitempty"` // for exactly this request, in this run
	// Scope says which further requests of this run are decided so: "exact" (as with Remember), "tool" or "prefix".
	Scope    string    `json:"scope,omitempty"`
	By       string    `json:"by"`
	At       time.Time `json:"at"`
	TimedOut bool      `json:"timed_out,omitempty"` // nobody answered before the deadline
}

// Ask puts a request to people. hide takes known secrets out of what is written; may be nil.
func (b Box) Ask(a Asked, hide func([]byte) []byte) error {
	a.SchemaVersion = Version
	if err := os.MkdirAll(b.approvals(), 0o700); err != nil {
		return fmt.Errorf("put request: %w", err)
	}
	return post(stepAsk, b.asked(a.ID), a, hide)
}

// Request reads one request; ErrNotFound where there is none.
func (b Box) Request(id string) (Asked, error) {
	var a Asked
	if !ValidID(id) {
		return a, ErrNotFound
	}
	err := read(b.asked(id), maxAsked, &a)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return a, ErrNotFound
	case err == nil && a.ID != id:
		err = fmt.Errorf("%s %w: it names request %q", id+askedSuffix, ErrDamaged, excerpt.Clip(a.ID, 64))
	}
	return a, err
}

// Requests lists every request of the run, the oldest first, at most MaxRequests.
func (b Box) Requests() ([]Asked, error) {
	entries, err := os.ReadDir(b.approvals())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list requests: %w", err)
	}
	var list []Asked
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), askedSuffix)
		if !ok || !ValidID(id) || len(list) >= MaxRequests {
			continue
		}
		a, err := b.Request(id)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	slices.SortStableFunc(list, func(x, y Asked) int { return x.AskedAt.Compare(y.AskedAt) })
	return list, nil
}

// Pending counts the requests that wait for an answer.
func (b Box) Pending() (int, error) {
	entries, err := os.ReadDir(b.approvals())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("list requests: %w", err)
	}
	answered := map[string]bool{}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), answerSuffix); ok {
			answered[id] = true
		}
	}
	n := 0
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), askedSuffix); ok && !answered[id] {
			n++
		}
	}
	return n, nil
}

// Answer answers a request for a person. The first answer counts; now is compared with the deadline.
func (b Box) Answer(a Answer, now time.Time) error {
	if err := a.validate(); err != nil {
		return err
	}
	asked, err := b.Request(a.ID)
	if err != nil {
		return err
	}
	switch {
	case a.Digest != asked.Digest:
		return ErrDigest
	case a.Decision == Allow && !asked.Complete:
		return ErrIncomplete
	}
	if given, ok, err := b.Given(a.ID); ok || err != nil {
		if given.TimedOut {
			return ErrExpired
		}
		return ErrAnswered
	}
	if now.After(asked.Deadline) {
		return ErrExpired
	}
	a.At = now.UTC()
	return b.put(a)
}

func (a Answer) validate() error {
	var p document.Problems
	if a.Decision != Allow && a.Decision != Deny {
		p.Add("/decision", "must be one of %s, %s", Allow, Deny)
	}
	if len(a.Reason) > maxReason {
		p.Add("/reason", "has %d bytes, at most %d are allowed", len(a.Reason), maxReason)
	}
	if len(a.Answers) > maxQuestions {
		p.Add("/answers", "has %d items, at most %d are allowed", len(a.Answers), maxQuestions)
	}
	for id, texts := range a.Answers {
		size := len(id)
		for _, text := range texts {
			size += len(text)
		}
		if len(texts) > maxChoices || size > maxChoiceText {
			p.Add("/answers", "an answer has more than %d choices or %d bytes", maxChoices, maxChoiceText)
			break
		}
	}
	return p.Err("the answer is not valid", "")
}

// Decide answers a request for the process that put it, and returns the answer that counts: this one, or that of
// whoever was first.
func (b Box) Decide(a Answer) (Answer, error) {
	a.At = time.Now().UTC()
	err := b.put(a)
	if err == nil {
		return a, nil
	}
	if !errors.Is(err, ErrAnswered) {
		return Answer{}, err
	}
	first, _, err := b.Given(a.ID)
	return first, err
}

func (b Box) put(a Answer) error {
	a.SchemaVersion = Version
	err := post(stepAnswer, b.answered(a.ID), a, nil)
	if errors.Is(err, fs.ErrExist) {
		return ErrAnswered
	}
	return err
}

// Given reads the answer to a request; ok is false where there is none. With an error there is one that cannot be
// trusted.
func (b Box) Given(id string) (a Answer, ok bool, err error) {
	err = read(b.answered(id), maxAnswer, &a)
	if errors.Is(err, fs.ErrNotExist) {
		return a, false, nil
	}
	if err == nil && (a.ID != id || a.validate() != nil) {
		err = fmt.Errorf("%s %w", id+answerSuffix, ErrDamaged)
	}
	return a, true, err
}
