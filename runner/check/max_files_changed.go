package check

import (
	"context"
	"fmt"
)

func init() {
	register(Kind{
		Name: "max_files_changed", Help: "At most that many files change; a rename counts as two.", Params: []Param{maxParam},
	}, func(v values) Check { return maxFilesChanged(v.integer(maxParam.Name)) })
}

// maxParam is the parameter of the kinds that bound a number.
var maxParam = Param{Name: "max", Help: "Largest number that passes.", Type: Integer, Required: true, Max: 1_000_000_000}

// maxFilesChanged passes when the diff has at most that many entries.
type maxFilesChanged int64

func (c maxFilesChanged) Check(_ context.Context, e Evidence) (Verdict, error) {
	return atMost(int64(len(e.Changes)), int64(c), "files"), nil
}

func atMost(got, most int64, noun string) Verdict {
	v := Verdict{Verdict: Pass, Evidence: fmt.Sprintf("%d %s changed, at most %d allowed", got, noun, most)}
	if got > most {
		v.Verdict = Fail
	}
	return v
}
