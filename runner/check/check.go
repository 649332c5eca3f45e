// Package check judges the evidence of a run against one constraint. Every
// kind is one file that registers itself.
package check

import "context"

// Check judges evidence. What it finds is a Verdict, also when it is a bad one;
// an error means that nothing could be judged.
type Check interface {
	Check(ctx context.Context, e Evidence) (Verdict, error)
}

// Outcome is one of three verdicts.
type Outcome string

// Outcomes. Unverifiable is neither good nor bad: nobody measured it.
const (
	Pass         Outcome = "pass"
	Fail         Outcome = "fail"
	Unverifiable Outcome = "unverifiable"
)

// Verdict is an outcome and what it rests on.
type Verdict struct {
	Verdict  Outcome
	Evidence string   // one sentence for people, bounded
	Paths    []string // offending paths in order of the diff, bounded
}

// maxPaths bounds the paths of one verdict; a change can touch millions.
const maxPaths = 20
