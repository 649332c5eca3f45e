package runner

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/runner/document"
	"sandboxrun/sandbox"
)

func TestAReachedLimitIsToldWithItsMeasure(t *testing.T) {
	t.Parallel()
	rep := newReport(nil, 100)
	tests := []struct {
		err  error
		want *document.ReachedLimit
	}{
		{errors.New("else"), nil},
		{&sandbox.LimitError{Limit: sandbox.LimitMemory}, nil},
		{fmt.Errorf("x: %w", &sandbox.LimitError{Which: sandbox.MeasureTreeFiles, Allowed: 3, Measured: 7}), &document.ReachedLimit{Name: "tree_files", Allowed: 3, Measured: 7}},
		{&sandbox.LimitError{Which: sandbox.MeasureOutput, Allowed: 10, Measured: 11}, &document.ReachedLimit{Name: "output_bytes", Allowed: 100, Measured: 101}},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, rep.limitReached(tt.err)); d != "" {
			t.Errorf("%v (-want +got):\n%s", tt.err, d)
		}
	}
}
