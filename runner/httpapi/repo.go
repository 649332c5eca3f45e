package httpapi

import (
	"path/filepath"
	"strings"

	"sandboxrun/runner/httpapi/problem"
)

// allowed resolves the repository of a task once, so that nothing that is renamed later changes what was allowed. It
// is "" where callers may name any repository.
func (s *Server) allowed(repo string) (string, error) {
	roots := s.o.Config.Serve.RepoRoots
	if len(roots) == 0 {
		return "", nil
	}
	// One answer for all that is not allowed: callers learn nothing of other paths.
	refused := problem.New(problem.CodeRepoNotAllowed, "this repository is not below a directory of serve.repo_roots").At("/context/repo_root", "is not allowed")
	resolved, err := filepath.EvalSymlinks(repo)
	if err != nil || !filepath.IsAbs(resolved) {
		return "", refused
	}
	for _, root := range roots {
		below, err := filepath.EvalSymlinks(root)
		if err != nil {
			continue
		}
		if rel, err := filepath.Rel(below, resolved); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			return resolved, nil
		}
	}
	return "", refused
}
