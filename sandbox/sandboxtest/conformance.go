// Package sandboxtest proves a sandbox.Engine correct against the words of its
// interface, and puts faults between an engine and those who use it.
package sandboxtest

import (
	"testing"

	"sandboxrun/sandbox"
)

// Conformance runs the whole suite. newEngine is called for each test and may
// register clean-ups; engines it returns may be the same one. The engine must
// run on this machine: trees are made here and processes looked for.
func Conformance(t *testing.T, newEngine func(t *testing.T) sandbox.Engine, o Options) {
	s := suite{newEngine: newEngine, options: o}
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
			for name, test := range part.tests {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(t)
				})
			}
		})
	}
}
