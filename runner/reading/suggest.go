package reading

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"sandboxrun/runner/check"
)

// Hints are what of a task helps to propose a measurable form of a sentence.
type Hints struct {
	Criterion bool     // the sentence is a criterion, whose objects are commands
	Commands  []string // suggested_commands of the task
	Files     []string // files_of_interest of the task
}

// proposals are objects for what a sentence seems to be about, in the order in which they are tried.
var proposals = []struct{ kind, params string }{
	{"public_api", `{"level":"signature"}`}, {"log_format", `{}`}, {"tests_added", `{}`}, {"tests_untouched", `{}`}, {"dependencies", `{}`},
	{"secrets", `{}`}, {"no_binary", `{}`}, {"generated_files", `{}`}, {"max_lines_changed", `{"max":200}`}, {"no_deleted_files", `{}`},
	{"no_new_files", `{}`}, {"max_files_changed", `{"max":5}`},
}

// Suggest proposes an object that a task can hold in place of a sentence, or beside it: valid as it is, and to be checked by whoever
// pastes it. The words decide only what is proposed, never what is measured.
func Suggest(sentence string, h Hints) json.RawMessage {
	t, why := normalize(sentence)
	if why != "" {
		t = &text{}
	}
	if h.Criterion {
		return marshal(map[string]any{"command": h.command(t), "expect_exit": 0})
	}
	words := string(t.runes)
	for _, p := range proposals {
		c := Check{Kind: p.kind, Params: json.RawMessage(p.params)}
		if subject := subjects()[p.kind]; subject != nil && subject.MatchString(words) && unmeasured(c) == "" && len(t.paths()) == 0 {
			return c.Object()
		}
	}
	paths, kind := t.paths(), "paths_forbidden"
	if len(paths) == 0 {
		paths, kind = h.Files, "paths_allowed"
	}
	var globs []string
	for _, p := range paths {
		if check.ValidGlob(p) == "" && len(p) <= check.MaxGlob && !slices.Contains(globs, p) {
			globs = append(globs, p)
		}
	}
	if len(globs) == 0 {
		globs, kind = []string{"src/**"}, "paths_allowed"
	}
	return Check{Kind: kind, Params: marshal(map[string]any{"paths": globs[:min(len(globs), 20)]})}.Object()
}

// paths are the paths that a text names.
func (t *text) paths() []string {
	var list []string
	for _, r := range t.runes {
		if a, ok := t.atoms[r]; ok && (a.kind != atomCode || !commandLike(a.text)) && a.glob() != "" {
			list = append(list, a.glob())
		}
	}
	return list
}

// oneProgram finds a known runner in words.
var oneProgram = regexp.MustCompile(`^[a-z][a-z0-9.+-]*$`)

// command is the command that a sentence seems to be about.
func (h Hints) command(t *text) string {
	for _, r := range t.runes {
		if a, ok := t.atoms[r]; ok && a.kind == atomCode && commandLike(a.text) {
			return a.text
		}
	}
	if fields := strings.Fields(t.plain(string(t.runes))); len(fields) > 1 && len(fields) <= 12 && oneProgram.MatchString(fields[0]) && commandLike(strings.Join(fields, " ")) {
		return strings.Join(fields, " ")
	}
	if len(h.Commands) > 0 {
		return h.Commands[0]
	}
	return "npm test"
}

// vagueForms are instructions that do not say what to do.
func vagueForms() []*form { return loadTable().forms(loadTable().Vague) }

// Vague says that an instruction does not say what is to be done, such as "improve it a bit".
func Vague(instruction string) bool {
	t, why := normalize(instruction)
	if why != "" || len(t.runes) > maxClause || len(t.atoms) > 0 {
		return false
	}
	clauses, ok := t.clauses()
	return ok && len(clauses) > 0 && !slices.ContainsFunc(clauses, func(c part) bool {
		s := strings.TrimRight(t.string(c), "!,~ ")
		return !slices.ContainsFunc(vagueForms(), func(f *form) bool { return f.regexp().MatchString(s) })
	})
}
