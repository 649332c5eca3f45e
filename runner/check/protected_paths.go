package check

// ProtectedPaths is the check behind a task's protected_paths: like
// paths_forbidden, without being a constraint of its own. The globs must be
// valid by ValidGlob.
func ProtectedPaths(patterns []string) Check {
	return pathsForbidden{globs(patterns), "changed protected paths"}
}
