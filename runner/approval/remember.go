package approval

import (
	"strings"

	"sandboxrun/agents"
	"sandboxrun/runner/document"
)

// Scope says which further requests of the run an answer is for.
type Scope string

// Scopes of an answer. All but the first two are for allowing only.
const (
	ScopeOnce   Scope = ""       // for this request
	ScopeExact  Scope = "exact"  // the same tool with the same input
	ScopeTool   Scope = "tool"   // every call of the tool
	ScopePrefix Scope = "prefix" // every single command that begins with [Pending.Prefix]
)

// maxRemembered bounds the rules and answers remembered in one run; more are forgotten, so that a person is asked again.
const maxRemembered = 1000

// Prefix is how a command line begins that a person may allow for the rest of a run: the program, and its subcommand where
// the second word looks like one. It is "" for what a shell would take apart: then a beginning says nothing about the rest.
func Prefix(command string) string {
	if command == "" || len(command) > MaxShown || strings.ContainsAny(command, ";&|<>`$(){}\n\r\\'\"*") {
		return ""
	}
	words := strings.Fields(command)
	if len(words) == 0 || strings.Contains(words[0], "=") {
		return ""
	}
	if len(words) > 1 && isSubcommand(words[1]) {
		return words[0] + " " + words[1]
	}
	return words[0]
}

// isSubcommand tells a word such as "test" in "npm test" from an option, a file or a number.
func isSubcommand(word string) bool {
	for i, r := range word {
		letter := r >= 'a' && r <= 'z'
		if !letter && (i == 0 || r != '-' && r != ':' && (r < '0' || r > '9')) {
			return false
		}
	}
	return word != ""
}

// rules are what an answer allows for the rest of the run, beyond the request itself.
func (s Scope) rules(p Pending) []document.ApprovalRule {
	tool := strings.ReplaceAll(p.Tool, "*", "") // a star would match other tools
	switch {
	case tool != p.Tool || tool == "":
		return nil
	case s == ScopeTool:
		return []document.ApprovalRule{{Tool: tool}}
	case s == ScopePrefix && Prefix(p.Command) != "":
		return []document.ApprovalRule{{Tool: tool, Command: Prefix(p.Command)}, {Tool: tool, Command: Prefix(p.Command) + " *"}}
	}
	return nil
}

// recall is what a person said about requests like this one before.
func (d *Desk) recall(p Pending, r agents.ApprovalRequest) (Answer, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(p.Questions) > 0 {
		return Answer{}, false
	}
	if a, ok := d.remembered[p.Digest]; ok {
		return a, true
	}
	for _, given := range d.allowed {
		if given.rule.Allows(r) {
			return Answer{Allow: true, By: given.by}, true
		}
	}
	return Answer{}, false
}

// allowance is what a person allowed for the rest of the run.
type allowance struct {
	rule document.ApprovalRule
	by   string
}

// remember keeps an answer for the requests it is for.
func (d *Desk) remember(p Pending, a Answer, s Scope) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(p.Questions) > 0 || len(d.remembered)+len(d.allowed) >= maxRemembered {
		return
	}
	a.By += ", remembered"
	if s == ScopeExact {
		if d.remembered == nil {
			d.remembered = map[string]Answer{}
		}
		d.remembered[p.Digest] = a
	}
	if a.Allow {
		for _, rule := range s.rules(p) {
			d.allowed = append(d.allowed, allowance{rule, a.By})
		}
	}
}
