package runner

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/tidwall/match"

	"sandboxrun/agents"
	"sandboxrun/sandbox"
)

// ApprovalRule names tool calls by any of three patterns; all that are given
// must hold. A call that does not say what a pattern asks about is not named.
type ApprovalRule struct {
	Tool    string `json:"tool,omitempty"`    // name of the tool, * matches anything
	Command string `json:"command,omitempty"` // the command line, * matches anything
	Path    string `json:"path,omitempty"`    // glob relative to the root of the tree, ** matches directories
}

// matchSteps bounds the work of one pattern on one text.
const matchSteps = 100_000

func (r ApprovalRule) problem() string {
	switch {
	case r.Tool == "" && r.Command == "" && r.Path == "":
		return "needs a tool, a command or a path"
	case r.Path != "" && !doublestar.ValidatePattern(r.Path):
		return "path is not a valid glob"
	}
	return ""
}

// allows says that a call is one the rule allows: every command of the line and
// every path must be named by it, or the rule says nothing.
func (r ApprovalRule) allows(q agents.ApprovalRequest) bool {
	if len(q.Questions) > 0 || r.Tool != "" && !wild(r.Tool, q.Tool) {
		return false
	}
	if r.Command != "" {
		// A line that a shell would take apart is more than the pattern says, unless it is there word for word.
		if q.Command == "" || strings.ContainsAny(q.Command, shellSyntax) && q.Command != r.Command || !wild(r.Command, q.Command) {
			return false
		}
	}
	if r.Path != "" {
		paths := relative(q.Paths)
		if len(paths) == 0 || len(paths) != len(q.Paths) {
			return false
		}
		for _, p := range paths {
			if !doublestar.MatchUnvalidated(r.Path, p) {
				return false
			}
		}
	}
	return true
}

// denies says that a call is one the rule denies: one command of the line or one
// path is enough. It cannot see through a shell: what keeps an agent in is the box.
func (r ApprovalRule) denies(q agents.ApprovalRequest) bool {
	if r.Tool != "" && !wild(r.Tool, q.Tool) {
		return false
	}
	if r.Command != "" && !slices.ContainsFunc(commandParts(q.Command), func(c string) bool { return wild(r.Command, c) }) {
		return false
	}
	if r.Path != "" && !slices.ContainsFunc(relative(q.Paths), func(p string) bool { return doublestar.MatchUnvalidated(r.Path, p) }) {
		return false
	}
	return true
}

// shellSyntax are the characters by which a line becomes more than one command
// with its arguments, POSIX Shell Command Language sections 2.2 to 2.10.
const shellSyntax = ";&|<>`$(){}\n\r\\"

// commandParts is a command line and the commands it seems to be made of.
func commandParts(line string) []string {
	if line == "" {
		return nil
	}
	parts := []string{line}
	for _, p := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(";&|(){}`\n\r", r) }) {
		parts = append(parts, strings.TrimSpace(p))
	}
	return parts
}

// relative are the paths inside of the tree, relative to its root. One outside
// is left out, so that no pattern for the tree ever names it.
func relative(paths []string) []string {
	var list []string
	for _, p := range paths {
		if !path.IsAbs(p) {
			p = path.Join(sandbox.WorkDir, p)
		}
		if rel, ok := strings.CutPrefix(path.Clean(p), sandbox.WorkDir+"/"); ok {
			list = append(list, rel)
		}
	}
	return list
}

// wild matches a pattern in which * stands for anything.
func wild(pattern, text string) bool {
	// ? would stand for one character, which nobody who writes a command expects.
	matched, stopped := match.MatchLimit(text, strings.ReplaceAll(pattern, "?", `\?`), matchSteps)
	return matched && !stopped
}
