package document

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

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

// Bounds of what rules are compared with. No file system takes a longer path,
// and no tool touches more files in one call: such a call is never allowed by a
// rule that names paths, and always denied by one.
const (
	maxRulePath  = 4096 // bytes of one path
	maxRulePaths = 1000 // paths of one call
	// maxRuleCommand is the longest command line a pattern may allow, in bytes:
	// no person reads more. A pattern that denies is compared with all of it.
	maxRuleCommand = 64 << 10
)

func (r ApprovalRule) problem() string {
	switch {
	case r.Tool == "" && r.Command == "" && r.Path == "":
		return "needs a tool, a command or a path"
	case r.Path != "" && !doublestar.ValidatePattern(r.Path):
		return "path is not a valid glob"
	}
	return ""
}

// Allows says that a call is one the rule allows: every command of the line and
// every path must be named by it, or the rule says nothing.
func (r ApprovalRule) Allows(q agents.ApprovalRequest) bool {
	if len(q.Questions) > 0 || r.Tool != "" && !wild(r.Tool, q.Tool) {
		return false
	}
	if r.Command != "" {
		// A line that a shell would take apart is more than the pattern says, unless it is there word for word.
		if q.Command == "" || len(q.Command) > maxRuleCommand || strings.ContainsAny(q.Command, shellSyntax) && q.Command != r.Command || !wild(r.Command, q.Command) {
			return false
		}
	}
	if r.Path != "" {
		if beyondBounds(q.Paths) {
			return false
		}
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

// Denies says that a call is one the rule denies: one command of the line or one
// path is enough. It cannot see through a shell: what keeps an agent in is the box.
func (r ApprovalRule) Denies(q agents.ApprovalRequest) bool {
	if r.Tool != "" && !wild(r.Tool, q.Tool) {
		return false
	}
	if r.Command != "" && !slices.ContainsFunc(commandParts(q.Command), func(c string) bool { return wild(r.Command, c) }) {
		return false
	}
	if r.Path != "" && !beyondBounds(q.Paths) && !slices.ContainsFunc(relative(q.Paths), func(p string) bool { return doublestar.MatchUnvalidated(r.Path, p) }) {
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

// beyondBounds reports whether paths are more or longer than rules are compared
// with: matching a glob may take time that grows faster than the path.
func beyondBounds(paths []string) bool {
	return len(paths) > maxRulePaths || slices.ContainsFunc(paths, func(p string) bool { return len(p) > maxRulePath })
}

// wild matches a pattern in which * stands for anything, in time that grows with
// the length of the text alone: a hostile agent chooses the text. The words
// between the stars are searched one after the other, each at the first place
// behind the one before; a later place could only leave less for the rest.
func wild(pattern, text string) bool {
	words := strings.Split(pattern, "*")
	first, last := words[0], words[len(words)-1]
	if len(words) == 1 {
		return text == pattern
	}
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, word := range words[1 : len(words)-1] {
		i := strings.Index(text, word)
		if i < 0 {
			return false
		}
		text = text[i+len(word):]
	}
	return true
}
