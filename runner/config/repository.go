package config

import (
	"path/filepath"
	"strings"

	"sandboxrun/runner/document"
)

// Repository is what the user decided for the tasks of one repository, or of all below a directory. A task's own word takes
// its place. It is never read from a repository.
type Repository struct {
	Agent         string   `json:"agent,omitempty"`
	Image         string   `json:"image,omitempty"`
	SetupCommands []string `json:"setup_commands,omitempty"` // of tasks without any
	Allow         []string `json:"allow,omitempty"`          // hosts that set-up may reach, added to the task's
	Checks        []string `json:"checks,omitempty"`         // acceptance commands of tasks without criteria
}

// RepositoryFor returns what was decided for the repository at an absolute path: the entry of the path itself, or of the
// nearest directory above it. Paths are compared as they are written.
func (c Config) RepositoryFor(root string) Repository {
	root = filepath.Clean(root)
	var found Repository
	longest := -1
	for path, r := range c.Repositories {
		path = filepath.Clean(path)
		if path == root || path == "/" || strings.HasPrefix(root, path+"/") {
			if len(path) > longest {
				found, longest = r, len(path)
			}
		}
	}
	return found
}

// Complete returns a task with what r decides where the task says nothing. The task itself stays as it is.
func (r Repository) Complete(t *document.Task) *document.Task {
	whole := *t
	if whole.SetupCommands == nil {
		whole.SetupCommands = r.SetupCommands
	}
	if len(whole.AcceptanceCriteria) == 0 {
		whole.AcceptanceCriteria = nil
		for _, command := range r.Checks {
			whole.AcceptanceCriteria = append(whole.AcceptanceCriteria, document.Criterion{Command: command})
		}
	}
	return &whole
}

func (r Repository) validate(at string, p *document.Problems) {
	if r.Agent != "" {
		if why := document.AgentProblem(r.Agent); why != "" {
			p.Add(at+"/agent", "%s", why)
		}
	}
	Box{Image: r.Image, Network: Network{Allow: r.Allow}}.request().Validate(at, p)
}
