package httpapi

import (
	"sandboxrun/runner/httpapi/problem"
	"sandboxrun/runner/service"
)

// allowed resolves the repository of a task. It is "" where callers may name any repository.
func (s *Server) allowed(repo string) (string, error) {
	resolved, ok := service.AllowedRepo(s.o.Config.Serve.RepoRoots, repo)
	if !ok {
		// One answer for all that is not allowed: callers learn nothing of other paths.
		return "", problem.New(problem.CodeRepoNotAllowed, "this repository is not below a directory of serve.repo_roots").At("/context/repo_root", "is not allowed")
	}
	return resolved, nil
}
