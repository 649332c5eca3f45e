package check

import (
	"context"
	"encoding/json"

	"sandboxrun/gitdiff/change"
)

func init() {
	register("no_deleted_files", "no file of the base is gone; a renamed file is gone from its old path", parseNoDeleted)
}

// noDeletedFiles passes when every path of the base still exists.
type noDeletedFiles struct{}

func parseNoDeleted(params json.RawMessage) (Check, error) {
	var p struct {
		Kind string `json:"kind"`
	}
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	return noDeletedFiles{}, nil
}

func (noDeletedFiles) Check(_ context.Context, e Evidence) (Verdict, error) {
	var gone []string
	for _, c := range e.Changes {
		if c.Type == change.Deleted {
			gone = append(gone, c.Name)
		}
	}
	if len(gone) > 0 {
		return clipped(Fail, "deleted", gone), nil
	}
	return Verdict{Verdict: Pass, Evidence: "no file was deleted"}, nil
}
