package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sandboxrun/runner/httpapi/problem"
	"sandboxrun/runner/index"
	"sandboxrun/runner/repos"
	"sandboxrun/runner/service"
	"sandboxrun/runner/view"
)

// Workspace is a repository that tasks may be for: one that runs have been for, or one below serve.repo_roots.
type Workspace struct {
	ID       string `json:"id"`
	Root     string `json:"root"`
	Name     string `json:"name"`
	Runs     int    `json:"runs"`
	Sessions int    `json:"sessions"`
}

// WorkspaceDetail is a repository with its state now.
type WorkspaceDetail struct {
	Workspace
	repos.State
}

// lookBound is how long the state of a repository may take; a tree that is too large is told as unknown.
const lookBound = 10 * time.Second

type workspaceInput struct {
	ID string `doc:"Id of the repository." path:"id"`
}

func (s *Server) workspaceRoutes() {
	addRoute(s, huma.Operation{Method: http.MethodGet, Path: "/api/workspaces", OperationID: "listWorkspaces", Summary: "List the repositories that tasks may be for, by name"},
		func(ctx context.Context, _ *struct{}) (*body[[]Workspace], error) {
			list, err := s.workspaces(ctx)
			return &body[[]Workspace]{list}, err
		})
	addRoute(s, huma.Operation{Method: http.MethodGet, Path: "/api/workspaces/{id}", OperationID: "getWorkspace", Summary: "Show a repository with its branches and its uncommitted changes"},
		func(ctx context.Context, in *workspaceInput) (*body[WorkspaceDetail], error) {
			list, err := s.workspaces(ctx)
			if err != nil {
				return nil, err
			}
			i := slices.IndexFunc(list, func(w Workspace) bool { return w.ID == in.ID })
			if i < 0 {
				return nil, problem.New(problem.CodeNotFound, "no repository has this id")
			}
			if _, err := s.allowed(list[i].Root); err != nil {
				return nil, err
			}
			ctx, cancel := context.WithTimeout(ctx, lookBound)
			defer cancel()
			return &body[WorkspaceDetail]{WorkspaceDetail{list[i], repos.Look(ctx, list[i].Root)}}, nil
		})
}

func (s *Server) workspaces(ctx context.Context) ([]Workspace, error) {
	byRoot := map[string]*Workspace{}
	at := func(root string) *Workspace {
		if byRoot[root] == nil {
			byRoot[root] = &Workspace{ID: view.WorkspaceID(root), Root: root, Name: filepath.Base(root)}
		}
		return byRoot[root]
	}
	for _, root := range repos.Below(ctx, s.o.Config.Serve.RepoRoots) {
		at(root)
	}
	for before := ""; ; {
		page, err := s.index.Page(ctx, index.Query{Before: before})
		if err != nil {
			return nil, err
		}
		for _, r := range page.Runs {
			if r.RepoRoot != "" {
				at(r.RepoRoot).Runs++
			}
		}
		if before = page.Next; before == "" {
			break
		}
	}
	sessions, err := s.o.State.Sessions()
	if err != nil {
		return nil, err
	}
	for _, one := range sessions {
		if one.RepoRoot != "" {
			at(one.RepoRoot).Sessions++
		}
	}
	list := []Workspace{}
	for _, w := range byRoot {
		list = append(list, *w)
	}
	slices.SortFunc(list, func(a, b Workspace) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Root, b.Root))
	})
	return list, nil
}

// allowed resolves the repository of a task. It is "" where callers may name any repository.
func (s *Server) allowed(repo string) (string, error) {
	resolved, ok := service.AllowedRepo(s.o.Config.Serve.RepoRoots, repo)
	if !ok {
		// One answer for all that is not allowed: callers learn nothing of other paths.
		return "", problem.New(problem.CodeRepoNotAllowed, "this repository is not below a directory of serve.repo_roots").At("/context/repo_root", "is not allowed")
	}
	return resolved, nil
}
