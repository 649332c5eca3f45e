package check

import (
	"context"
	"encoding/json"
	"fmt"
)

func init() {
	register("max_files_changed", "at most max files changed; a rename counts as two", parseMaxFiles)
}

// maxFilesChanged passes when the diff has at most that many entries.
type maxFilesChanged int64

// maxParams are the parameters of the kinds that take a number.
type maxParams struct {
	Kind string `json:"kind"`
	Max  *int64 `json:"max"`
}

func parseMaxFiles(params json.RawMessage) (Check, error) {
	n, err := decodeMax(params)
	if err != nil {
		return nil, err
	}
	return maxFilesChanged(n), nil
}

func decodeMax(params json.RawMessage) (int64, error) {
	var p maxParams
	if err := decode(params, &p); err != nil {
		return 0, err
	}
	switch {
	case p.Max == nil:
		return 0, &ParamError{{Path: "/max", Message: "is required"}}
	case *p.Max < 0:
		return 0, &ParamError{{Path: "/max", Message: "must not be negative"}}
	}
	return *p.Max, nil
}

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
