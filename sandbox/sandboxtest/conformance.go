// Package sandboxtest tests a sandbox.Engine against its interface's documentation, and injects faults between an
// engine and its clients.
package sandboxtest

import (
	"maps"
	"slices"
	"testing"

	"sandboxrun/internal/testenv"
	"sandboxrun/sandbox"
)

// Conformance runs the whole suite. newEngine is called for each test and may register clean-ups; it may return the
// same engine every time. The engine must run on this machine: trees are made and processes looked for here.
func Conformance(t *testing.T, newEngine func(t *testing.T) sandbox.Engine, o Options) {
	s := suite{newEngine: newEngine, options: o}
	n, left := 0, 0
	for _, part := range []struct {
		name  string
		tests map[string]func(t *testing.T)
	}{
		{"exec", s.execTests()},
		{"lifecycle", s.lifecycleTests()},
		{"isolation", s.isolationTests()},
		{"limits", s.limitTests()},
		{"tree", s.treeTests()},
	} {
		t.Run(part.name, func(t *testing.T) {
			for _, name := range slices.Sorted(maps.Keys(part.tests)) {
				if n++; o.Third > 0 && !testenv.All() && n%3 != o.Third%3 {
					left++
					continue
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					part.tests[name](t)
				})
			}
		})
	}
	if left > 0 {
		t.Logf("sample: %d of %d cases left out; \"make test-all\" runs every one", left, n)
	}
}
