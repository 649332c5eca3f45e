package check

import "context"

func init() {
	register(Kind{
		Name: "paths_allowed", Help: "Every changed path matches one of the globs.", Params: []Param{pathsParam},
	}, func(v values) Check { return pathsAllowed{v.globs(pathsParam.Name)} })
}

// pathsParam is the parameter of the kinds that take globs.
var pathsParam = Param{Name: "paths", Help: "Globs relative to the root of the repository.", Type: Globs, Required: true, Min: 1, Max: 500}

// pathsAllowed passes when nothing outside its globs changed.
type pathsAllowed struct{ globs globs }

func (c pathsAllowed) Check(_ context.Context, e Evidence) (Verdict, error) {
	var outside []string
	for _, name := range names(e) {
		if !c.globs.permit(name) {
			outside = append(outside, name)
		}
	}
	if len(outside) > 0 {
		return clipped(Fail, "changed outside of the allowed paths", outside), nil
	}
	return Verdict{Verdict: Pass, Evidence: "every changed path is allowed"}, nil
}

// names lists every name a change touches in its exact bytes, the old name of a
// rename too, each once and in the order of the diff.
func names(e Evidence) []string {
	var list []string
	seen := map[string]bool{}
	for _, c := range e.Changes {
		for _, name := range []string{c.Name, c.OldName} {
			if name != "" && !seen[name] {
				seen[name] = true
				list = append(list, name)
			}
		}
	}
	return list
}
