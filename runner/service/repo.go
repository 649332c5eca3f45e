package service

import (
	"path/filepath"
	"strings"
)

// AllowedRepo reports whether callers may use a repository: one below a directory of roots, or any where roots is empty.
// The path it returns is the repository with every link resolved, so that nothing that is renamed later changes what was
// allowed; it is "" where any is allowed.
func AllowedRepo(roots []string, repo string) (resolved string, ok bool) {
	if len(roots) == 0 {
		return "", true
	}
	resolved, err := filepath.EvalSymlinks(repo)
	if err != nil || !filepath.IsAbs(resolved) {
		return "", false
	}
	for _, root := range roots {
		below, err := filepath.EvalSymlinks(root)
		if err != nil {
			continue
		}
		if rel, err := filepath.Rel(below, resolved); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			return resolved, true
		}
	}
	return "", false
}
