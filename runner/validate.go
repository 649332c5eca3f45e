package runner

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"sandboxrun/runner/check"
)

// validate reports what the schema cannot say about a task. It is pure: what
// depends on the machine is found out when the task is run.
func (t *Task) validate(p *problems) {
	if why := idProblem(t.TaskID); why != "" {
		p.add("/task_id", "%s", why)
	}
	t.Context.validate(p)
	t.validateMode(p)
	t.validateConstraints(p)
	t.validateCriteria(p)
	for i, g := range t.ProtectedPaths {
		if why := check.ValidGlob(g); why != "" {
			p.add(fmt.Sprintf("/protected_paths/%d", i), "%s", why)
		}
	}
	if t.Agent != nil {
		t.Agent.validate(p)
	}
	if t.Box != nil {
		t.Box.validate("/box", p)
	}
	if t.Approvals != nil {
		t.Approvals.validate(p)
	}
	if why := mcpProblem(t.MCPServers); why != "" {
		p.add("/mcp_servers", "%s", why)
	}
	if t.SessionID != "" {
		if why := idProblem(t.SessionID); why != "" {
			p.add("/session_id", "%s", why)
		}
	}
}

// idProblem says why an id cannot be the last part of a branch name; the form
// itself is the schema's. The rules are those of git-check-ref-format(1).
func idProblem(id string) string {
	switch {
	case strings.Contains(id, ".."):
		return `must not hold ".."`
	case strings.HasSuffix(id, "."):
		return `must not end in "."`
	case strings.HasSuffix(id, ".lock"):
		return `must not end in ".lock"`
	}
	return ""
}

func (c *TaskContext) validate(p *problems) {
	switch root := c.RepoRoot; {
	case strings.HasPrefix(root, "~"):
		p.add("/context/repo_root", "must be an absolute path; ~ is not expanded")
	case !filepath.IsAbs(root):
		p.add("/context/repo_root", "must be an absolute path")
	case hasDotDot(root):
		p.add("/context/repo_root", `must not hold ".." segments`)
	}
	for i, f := range c.FilesOfInterest {
		if !filepath.IsLocal(f) {
			p.add(fmt.Sprintf("/context/files_of_interest/%d", i), "must be a path inside of the repository, relative to its root")
		}
	}
	if why := revisionProblem(c.Base); why != "" {
		p.add("/context/base", "%s", why)
	}
}

func hasDotDot(path string) bool {
	for seg := range strings.SplitSeq(path, "/") {
		if seg == ".." {
			return true
		}
	}
	return false
}

// revisionProblem refuses what no revision looks like (gitrevisions(7)); whether
// it resolves is the repository's word.
func revisionProblem(rev string) string {
	switch {
	case strings.HasPrefix(rev, "-"):
		return `must not begin with "-"`
	case strings.ContainsFunc(rev, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return "must not hold spaces or control characters"
	}
	return ""
}

func (t *Task) validateMode(p *problems) {
	switch {
	case t.ExecutionMode == ModeCommand && len(t.SuggestedCommands) == 0:
		p.add("/suggested_commands", "is required when execution_mode is command")
	case t.ExecutionMode != ModeCommand && t.Instructions == "":
		p.add("/instructions", "is required unless execution_mode is command")
	}
}

func (t *Task) validateConstraints(p *problems) {
	for i, c := range t.Constraints {
		var bad *check.ParamError
		if _, err := check.New(c.Kind, c.Params); !errors.As(err, &bad) {
			continue
		}
		for _, b := range *bad {
			p.add(fmt.Sprintf("/constraints/%d%s", i, b.Path), "%s", b.Message)
		}
	}
}

// validateCriteria refuses a command that is to end in two ways: it is run once.
func (t *Task) validateCriteria(p *problems) {
	expected := map[string]int{}
	for i, c := range t.AcceptanceCriteria {
		first, known := expected[c.Command]
		if c.Command == "" || !known {
			expected[c.Command] = c.ExpectExit
			continue
		}
		if first != c.ExpectExit {
			p.add(fmt.Sprintf("/acceptance_criteria/%d/expect_exit", i), "the same command is also to exit with %d", first)
		}
	}
}

func (a *AgentChoice) validate(p *problems) {
	// A bare name stands at /agent itself, so that is where a name is wrong.
	if a.Name != "" {
		if why := agentProblem(a.Name); why != "" {
			p.add("/agent", "%s", why)
		}
	}
	if why := variantProblem(a.Variant); why != "" {
		p.add("/agent/variant", "%s", why)
	}
	if why := modelProblem(a.Model); why != "" {
		p.add("/agent/model", "%s", why)
	}
}
