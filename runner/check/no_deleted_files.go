package check

import (
	"context"

	"sandboxrun/gitdiff/change"
)

func init() {
	register(Kind{
		Name: "no_deleted_files", Help: "No file of the base is gone; a renamed file is gone from its old path.",
	}, func(values) Check { return noDeletedFiles{} })
}

// noDeletedFiles passes when every path of the base still exists.
type noDeletedFiles struct{}

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
