package check

import "context"

// sentence is a constraint in words. The agent was told; nobody can measure it.
type sentence struct{}

func (sentence) Check(context.Context, Evidence) (Verdict, error) {
	return Verdict{
		Verdict:  Unverifiable,
		Evidence: "a sentence names no check, so nothing measured it",
	}, nil
}
