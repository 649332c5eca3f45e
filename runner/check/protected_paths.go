package check

import (
	"context"

	"sandboxrun/gitdiff/change"
)

// ProtectedPaths is the check behind a task's protected_paths: like
// paths_forbidden, without being a constraint of its own. The globs must be
// valid by ValidGlob.
func ProtectedPaths(patterns []string) Check {
	return pathsForbidden{globs(patterns), "changed protected paths"}
}

// ProtectedNames lists the names that ProtectedPaths objects to, in their exact
// bytes and in the order of the diff. The error is ctx's.
func ProtectedNames(ctx context.Context, patterns []string, changes []change.Change) ([]string, error) {
	var list []string
	for i, name := range names(Evidence{Changes: changes}) {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if globs(patterns).forbid(name) {
			list = append(list, name)
		}
	}
	return list, nil
}
