package reader

import (
	"errors"
	"syscall"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitobj"
	"sandboxrun/internal/floor"
)

// failed is the error that ended a child's work, as a message.
type failed struct {
	Text  string `json:"text"`
	Cause cause  `json:"cause,omitempty"`
	Code  string `json:"code,omitempty"`  // of a budget
	What  string `json:"what,omitempty"`  // of a budget, or a missing object
	Limit int64  `json:"limit,omitempty"` // of a budget, or what a disk must keep free
	Free  int64  `json:"free,omitempty"`  // what the disk has free
}

// cause is what the runner has to know of an error besides its text.
type cause string

const (
	causeBudget   cause = "budget"
	causeUnstable cause = "unstable"
	causeMissing  cause = "missing"
	causeLow      cause = "low"
	causeFull     cause = "full"
	causeQuota    cause = "quota"
)

func failedOf(err error) failed {
	f := failed{Text: clip(err.Error())}
	var (
		budget  *gitdiff.BudgetError
		missing *gitobj.MissingError
		low     *floor.LowError
	)
	switch {
	case errors.As(err, &budget):
		f.Cause, f.Code, f.What, f.Limit = causeBudget, string(budget.Code), budget.What, budget.Limit
	case errors.Is(err, gitdiff.ErrTreeUnstable):
		f.Cause = causeUnstable
	case errors.As(err, &missing):
		f.Cause, f.What = causeMissing, missing.ID
	case errors.As(err, &low):
		f.Cause, f.Free, f.Limit = causeLow, low.Free, low.Least
	case errors.Is(err, syscall.ENOSPC):
		f.Cause = causeFull
	case errors.Is(err, syscall.EDQUOT):
		f.Cause = causeQuota
	}
	return f
}

// childError is an error of the child: its words, and what they mean here.
type childError struct {
	text  string
	cause error // nil where nothing is known
}

func (e *childError) Error() string { return e.text }
func (e *childError) Unwrap() error { return e.cause }

func (f failed) err() error {
	e := &childError{text: clip(f.Text)}
	switch f.Cause {
	case causeBudget:
		e.cause = &gitdiff.BudgetError{Code: gitdiff.Code(clip(f.Code)), What: clip(f.What), Limit: f.Limit}
	case causeUnstable:
		e.cause = gitdiff.ErrTreeUnstable
	case causeMissing:
		e.cause = &gitobj.MissingError{ID: clip(f.What)}
	case causeLow:
		e.cause = &floor.LowError{Free: f.Free, Least: f.Limit}
	case causeFull:
		e.cause = syscall.ENOSPC
	case causeQuota:
		e.cause = syscall.EDQUOT
	}
	return e
}
