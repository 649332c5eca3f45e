package document

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sandboxrun/runner/check"
	"sandboxrun/runner/excerpt"
	"sandboxrun/sandbox/egress"
)

// validate reports what the schema cannot say about a task. It is pure: what
// depends on the machine is found out when the task is run.
func (t *Task) validate(p *Problems) {
	if why := idProblem(t.TaskID); why != "" {
		p.Add("/task_id", "%s", why)
	}
	t.Context.validate(p)
	t.validateMode(p)
	t.validateConstraints(p)
	t.validateCriteria(p)
	for field, globs := range map[string][]string{"protected_paths": t.ProtectedPaths, "setup_inputs": t.SetupInputs} {
		for i, g := range globs {
			if why := check.ValidGlob(g); why != "" {
				p.Add(fmt.Sprintf("/%s/%d", field, i), "%s", why)
			}
		}
	}
	if t.Agent != nil {
		t.Agent.validate(p)
	}
	if t.Box != nil {
		t.Box.Validate("/box", p)
	}
	if t.Approvals != nil {
		t.Approvals.validate(p)
	}
	if why := McpProblem(t.MCPServers); why != "" {
		p.Add("/mcp_servers", "%s", why)
	}
	if t.SessionID != "" {
		if why := idProblem(t.SessionID); why != "" {
			p.Add("/session_id", "%s", why)
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

func (c *TaskContext) validate(p *Problems) {
	switch root := c.RepoRoot; {
	case strings.HasPrefix(root, "~"):
		p.Add("/context/repo_root", "must be an absolute path; ~ is not expanded")
	case !filepath.IsAbs(root):
		p.Add("/context/repo_root", "must be an absolute path")
	case HasDotDot(root):
		p.Add("/context/repo_root", `must not hold ".." segments`)
	}
	for i, f := range c.FilesOfInterest {
		if !filepath.IsLocal(f) {
			p.Add(fmt.Sprintf("/context/files_of_interest/%d", i), "must be a path inside of the repository, relative to its root")
		}
	}
	if why := RevisionProblem(c.Base); why != "" {
		p.Add("/context/base", "%s", why)
	}
}

// HasDotDot says that a path has a ".." segment.
func HasDotDot(path string) bool {
	for seg := range strings.SplitSeq(path, "/") {
		if seg == ".." {
			return true
		}
	}
	return false
}

// RevisionProblem refuses what no revision looks like (gitrevisions(7)); whether
// it resolves is the repository's word.
func RevisionProblem(rev string) string {
	switch {
	case strings.HasPrefix(rev, "-"):
		return `must not begin with "-"`
	case strings.ContainsFunc(rev, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return "must not hold spaces or control characters"
	}
	return ""
}

func (t *Task) validateMode(p *Problems) {
	switch {
	case t.ExecutionMode == ModeCommand && len(t.SuggestedCommands) == 0:
		p.Add("/suggested_commands", "is required when execution_mode is command")
	case t.ExecutionMode != ModeCommand && t.Instructions == "":
		p.Add("/instructions", "is required unless execution_mode is command")
	}
}

func (t *Task) validateConstraints(p *Problems) {
	for i, c := range t.Constraints {
		var bad *check.ParamError
		if _, err := check.New(c.Kind, c.Params); !errors.As(err, &bad) {
			continue
		}
		for _, b := range *bad {
			p.Add(fmt.Sprintf("/constraints/%d%s", i, b.Path), "%s", b.Message)
		}
	}
}

// validateCriteria refuses a command that is to end in two ways: it is run once.
func (t *Task) validateCriteria(p *Problems) {
	expected := map[string]int{}
	for i, c := range t.AcceptanceCriteria {
		first, known := expected[c.Command]
		if c.Command == "" || !known {
			expected[c.Command] = c.ExpectExit
			continue
		}
		if first != c.ExpectExit {
			p.Add(fmt.Sprintf("/acceptance_criteria/%d/expect_exit", i), "the same command is also to exit with %d", first)
		}
	}
}

func (a *AgentChoice) validate(p *Problems) {
	// A bare name stands at /agent itself, so that is where a name is wrong.
	if a.Name != "" {
		if why := AgentProblem(a.Name); why != "" {
			p.Add("/agent", "%s", why)
		}
	}
	if why := VariantProblem(a.Variant); why != "" {
		p.Add("/agent/variant", "%s", why)
	}
	if why := ModelProblem(a.Model); why != "" {
		p.Add("/agent/model", "%s", why)
	}
	for i, g := range a.Grants {
		if !slices.Contains(egress.Grants(), g) {
			p.Add(fmt.Sprintf("/agent/grants/%d", i), "nothing is called %q that a provider could do for a run", excerpt.Clip(string(g), 64))
		}
	}
}

// sessionForm is the form of a session's id; the schema of tasks has it too.
var sessionForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// SessionProblem says why no session can be called so; "" when one can.
func SessionProblem(id string) string {
	if !sessionForm.MatchString(id) {
		return formReason(sessionForm.String())
	}
	return idProblem(id)
}

// RunNameProblem says why no run's id begins so; "" when one can.
func RunNameProblem(name string) string {
	if len(name) > 26 || strings.ContainsFunc(name, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }) {
		return "must be the id of a run, or the beginning of one"
	}
	return ""
}
