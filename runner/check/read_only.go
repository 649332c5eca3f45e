package check

import (
	"context"

	"sandboxrun/runner/excerpt"
)

// ReadOnly is the check behind a read-only variant of an agent, and not a constraint of its own: nothing changed.
func ReadOnly() Check { return readOnly{} }

type readOnly struct{}

func (readOnly) Check(_ context.Context, e Evidence) (Verdict, error) {
	changed := names(e)
	if len(changed) == 0 {
		return Verdict{Verdict: Pass, Evidence: "nothing changed"}, nil
	}
	return Verdict{Verdict: Fail, Evidence: excerpt.Plural(len(e.Changes), "path") + " differ", Paths: shown(changed)}, nil
}
