package check_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"sandboxrun/gitdiff/change"
	"sandboxrun/runner/check"
)

func TestChangesOfInputsAreFoundByWholePaths(t *testing.T) {
	t.Parallel()
	in := check.NewInputs([]string{"**/package.json", "scripts/*.sh", "gradle/**", "tool", "**/a/b.txt"})
	for name, want := range map[string]bool{
		"package.json": true, "web/package.json": true, "web/PACKAGE.json": true, "package.json/x": false, "package.json5": false,
		"scripts/setup.sh": true, "scripts/deep/setup.sh": false, "setup.sh": false, "gradle/wrapper/x.jar": true,
		"tool": true, "tool/x": false, "x/tool": false, "a/b.txt": true, "x/a/b.txt": true, "b.txt": false,
	} {
		got, err := in.Touched(t.Context(), []change.Change{{Name: "other"}, {Name: name}, {Name: "moved", OldName: name}})
		if err != nil || (len(got) == 2) != want || len(got) == 1 {
			t.Errorf("%s: %d changes, error %v; want it found: %t", name, len(got), err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := in.Touched(ctx, slices.Repeat([]change.Change{{Name: "x"}}, 10)); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}
