package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"sandboxrun/agents"
	"sandboxrun/runner/excerpt"
	"sandboxrun/runner/mailbox"
	"sandboxrun/runner/state"
)

// ApprovalState is whether a request still waits.
type ApprovalState string

// States of a request.
const (
	ApprovalPending  ApprovalState = "pending"
	ApprovalAnswered ApprovalState = "answered"
	ApprovalExpired  ApprovalState = "expired" // denied because nobody answered in time, or because the run ended
)

// Approval is a request of an agent as people see it.
type Approval struct {
	RunID      string            `json:"run_id"`
	ID         string            `json:"id"` // within the run
	State      ApprovalState     `json:"state"`
	Tool       string            `json:"tool"`
	Action     agents.Action     `json:"action"`
	Input      json.RawMessage   `json:"input"`
	InputBytes int               `json:"input_bytes"`
	Complete   bool              `json:"complete"` // false: too long to read, can only be denied
	Digest     string            `json:"digest"`   // an answer names it
	Questions  []agents.Question `json:"questions,omitempty"`
	AskedAt    time.Time         `json:"asked_at"`
	Deadline   time.Time         `json:"deadline"`
	Answer     *mailbox.Answer   `json:"answer,omitempty"`
}

// Approvals lists the requests of a run, the oldest first; of all live runs those that wait, the one with the nearest
// deadline first, where run is "".
func (s *Service) Approvals(_ context.Context, run string) ([]Approval, error) {
	if run != "" {
		d, err := s.dir(run)
		if err != nil {
			return nil, err
		}
		return s.approvals(d, false)
	}
	ids, err := s.o.State.Active()
	if err != nil {
		return nil, err
	}
	list := []Approval{}
	for _, id := range ids {
		d, err := s.dir(id)
		if missing := (*Problem)(nil); errors.As(err, &missing) {
			continue // ended and removed since
		}
		if err != nil {
			return nil, err
		}
		some, err := s.approvals(d, true)
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	slices.SortStableFunc(list, func(a, b Approval) int { return a.Deadline.Compare(b.Deadline) })
	return list, nil
}

func (s *Service) approvals(d *state.RunDir, waiting bool) ([]Approval, error) {
	live, err := d.Live()
	if err != nil || !live && waiting {
		return []Approval{}, err
	}
	requests, err := d.Mailbox().Requests()
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", d.ID(), err)
	}
	list := []Approval{}
	for _, asked := range requests {
		if a := shown(d, asked, live); !waiting || a.State == ApprovalPending {
			list = append(list, a)
		}
	}
	return list, nil
}

// Approval shows one request.
func (s *Service) Approval(_ context.Context, run, id string) (Approval, error) {
	d, err := s.dir(run)
	if err != nil {
		return Approval{}, err
	}
	asked, err := d.Mailbox().Request(id)
	if err != nil {
		return Approval{}, answerProblem(id, err)
	}
	live, err := d.Live()
	if err != nil {
		return Approval{}, err
	}
	return shown(d, asked, live), nil
}

func shown(d *state.RunDir, asked mailbox.Asked, live bool) Approval {
	a := Approval{RunID: d.ID(), ID: asked.ID, State: ApprovalPending, Tool: asked.Tool, Action: asked.Action, Input: asked.Input, InputBytes: asked.InputBytes,
		Complete: asked.Complete, Digest: asked.Digest, Questions: asked.Questions, AskedAt: asked.AskedAt, Deadline: asked.Deadline}
	given, answered, err := d.Mailbox().Given(asked.ID)
	switch {
	case err != nil: // the run takes it for a denial
		a.State = ApprovalAnswered
	case answered && given.TimedOut:
		a.State, a.Answer = ApprovalExpired, &given
	case answered:
		a.State, a.Answer = ApprovalAnswered, &given
	case !live || time.Now().After(asked.Deadline):
		a.State = ApprovalExpired
	}
	return a
}

// Answer answers a request of a live run. The first answer counts: errors are *Problem, or *InputError of an answer
// that cannot be right.
func (s *Service) Answer(ctx context.Context, run, id string, a mailbox.Answer) (Approval, error) {
	d, err := s.dir(run)
	if err != nil {
		return Approval{}, err
	}
	box := d.Mailbox()
	if _, err := box.Request(id); err != nil {
		return Approval{}, answerProblem(id, err)
	}
	if live, err := d.Live(); err != nil || !live {
		if err == nil {
			err = problem(CodeRunEnded, "", "run %s does not wait for an answer any more", d.ID())
		}
		return Approval{}, err
	}
	a.ID, a.TimedOut = id, false
	if err := box.Answer(a, time.Now()); err != nil {
		return Approval{}, answerProblem(id, err)
	}
	return s.Approval(ctx, run, id)
}

// answerProblem gives the errors of a mailbox their codes.
func answerProblem(id string, err error) error {
	id = excerpt.Clip(id, 64)
	switch {
	case errors.Is(err, mailbox.ErrNotFound):
		return problem(CodeNotFound, `"sandboxrun approvals list" shows what waits`, "%q: %v", id, err)
	case errors.Is(err, mailbox.ErrAnswered):
		return problem(CodeAnswered, "", "%s: %v", id, err)
	case errors.Is(err, mailbox.ErrExpired):
		return problem(CodeExpired, "", "%s: %v", id, err)
	case errors.Is(err, mailbox.ErrDigest):
		return problem(CodeDigest, `"sandboxrun approvals list" shows the request and its digest`, "%s: %v", id, err)
	case errors.Is(err, mailbox.ErrIncomplete):
		return problem(CodeIncomplete, "deny it", "%s: %v", id, err)
	}
	return err
}
