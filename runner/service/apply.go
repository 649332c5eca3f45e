package service

import (
	"context"
	"errors"
	"io/fs"

	"sandboxrun/runner"
	"sandboxrun/runner/document"
)

// Apply brings the change of an ended run into the working tree of its repository, or says with DryRun what it would
// write. Errors are *Problem: not_ended, and apply_conflict with the reasons where nothing was written.
func (s *Service) Apply(ctx context.Context, id string, o runner.ApplyOptions) (runner.ApplyReport, error) {
	d, err := s.dir(id)
	if err != nil {
		return runner.ApplyReport{}, err
	}
	if _, err := d.Result(); errors.Is(err, fs.ErrNotExist) {
		return runner.ApplyReport{}, problem(CodeNotEnded, "", "run %s has no result yet", id)
	}
	s.applying.Lock() // two changes would each be compared with a tree that the other one changes
	defer s.applying.Unlock()
	report, err := s.o.Runner.Apply(ctx, id, o)
	if input, ok := errors.AsType[*document.InputError](err); ok {
		return report, &Problem{Code: CodeApplyConflict, Err: input}
	}
	return report, err
}
