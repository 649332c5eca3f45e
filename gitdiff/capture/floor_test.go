package capture

import (
	"errors"
	"math"
	"testing"

	"sandboxrun/gitdiff/gitdifftest"
	"sandboxrun/gitdiff/gitdifftest/workbench"
	"sandboxrun/internal/floor"
)

func TestCaptureWritesNothingBelowTheFloor(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"a file": {"new": "new\n"}, "a link": {"new": "-> a"}, "a directory": {"d/a": "a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := workbench.New(t, map[string]string{"a": "a\n"})
			dir := b.Box(t)
			gitdifftest.WriteFiles(t, dir, files)
			src := sourceOf(t, b, dir)
			src.Budget.FreeBytes = 1
			if _, err := Capture(t.Context(), src); err != nil {
				t.Errorf("with room: %v", err)
			}
			src.Budget.FreeBytes = math.MaxInt64 / 2
			_, err := Capture(t.Context(), src)
			if low := (*floor.LowError)(nil); !errors.As(err, &low) {
				t.Errorf("error = %v, want one that names the free space", err)
			}
		})
	}
}
