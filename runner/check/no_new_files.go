package check

import (
	"context"

	"sandboxrun/gitdiff/change"
)

func init() {
	register(Kind{
		Name: "no_new_files", Help: "Every file was there in the base, at the same path; a renamed file is new at its new path.",
		Params: []Param{{Name: "except", Help: "Globs of paths where files may be new.", Type: Globs, Min: 1, Max: 500}},
	}, func(v values) Check { return noNewFiles{v.globs("except")} })
}

// noNewFiles passes when no path is new but those of its globs.
type noNewFiles struct{ except globs }

func (c noNewFiles) Check(_ context.Context, e Evidence) (Verdict, error) {
	var added []string
	for i := range e.Changes {
		if ch := &e.Changes[i]; ch.Type == change.Added && !c.except.permit(ch.Name) {
			added = append(added, ch.Name)
		}
	}
	if len(added) > 0 {
		return clipped(Fail, "new files", added), nil
	}
	return Verdict{Verdict: Pass, Evidence: "no file is new"}, nil
}
