package change

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitname"

	"github.com/go-git/go-git/v5/plumbing/format/config"
)

// maxModuleProblems bounds the problems reported of one .gitmodules.
const maxModuleProblems = 10

// JudgeModules reports what is wrong with the text of a .gitmodules that was not wrong with the one before.
func JudgeModules(was, now string) []gitdiff.Finding {
	known := moduleProblems(was)
	var out []gitdiff.Finding
	for _, p := range moduleProblems(now) {
		if slices.Contains(known, p) {
			continue
		}
		if len(out) == maxModuleProblems {
			break
		}
		out = append(out, gitdiff.Finding{Class: classModuleTrap, Detail: p, Grade: gitdiff.Refuse})
	}
	return out
}

// moduleProblems lists what git fsck refuses in a .gitmodules (gitmodulesName, Path, Url and Update), and what older
// versions of git were attacked with: a carriage return in a path (CVE-2025-48384), names and paths that lead into .git,
// addresses that are options or start a program.
func moduleProblems(text string) []string {
	var out []string
	bad := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for i, line := range strings.Split(text, "\n") {
		if strings.ContainsFunc(strings.TrimSuffix(line, "\r"), func(r rune) bool { return r != '\t' && gitname.Misleads(r) }) {
			bad("line %d holds control characters", i+1)
		}
	}
	if text == "" {
		return out
	}
	file := config.New()
	if err := config.NewDecoder(strings.NewReader(text)).Decode(file); err != nil {
		bad("cannot be read: %s", gitname.Clip(err.Error(), 200))
		return out
	}
	for _, s := range file.Sections {
		if s.IsName("submodule") {
			for _, sub := range s.Subsections {
				out = append(out, subProblems(sub)...)
			}
		}
	}
	return out
}

// subProblems lists what is wrong with one submodule.
func subProblems(sub *config.Subsection) []string {
	var out []string
	name := gitname.Clip(sub.Name, 100)
	if why := pathProblem(sub.Name); why != "" {
		out = append(out, fmt.Sprintf("the name %q %s", name, why))
	}
	for _, o := range sub.Options {
		var why string
		key := strings.ToLower(o.Key)
		switch {
		case key == "path":
			why = pathProblem(o.Value)
		case key == "url":
			why = addressProblem(o.Value)
		case key == "update" && strings.HasPrefix(strings.TrimSpace(o.Value), "!"):
			why = "runs a program"
		}
		if why != "" {
			out = append(out, fmt.Sprintf("the %s %q of %q %s", key, gitname.Clip(o.Value, 200), name, why))
		}
	}
	return out
}

// pathProblem is why git must not make a directory of that name; "" when it may.
func pathProblem(p string) string {
	switch {
	case p == "":
		return "is empty"
	case strings.HasPrefix(p, "-"):
		return "reads as an option"
	case strings.ContainsFunc(p, unicode.IsControl):
		return "holds control characters"
	case strings.HasPrefix(p, "/"), strings.HasPrefix(p, `\`), len(p) > 1 && p[1] == ':':
		return "is absolute"
	}
	for part := range strings.FieldsFuncSeq(p, func(r rune) bool { return r == '/' || r == '\\' }) {
		if part == ".." {
			return "leads out of the tree"
		}
		if gitname.IsDotGit(part) {
			return "leads into .git"
		}
	}
	return ""
}

var (
	helperAddress = regexp.MustCompile(`^[A-Za-z0-9+.-]*::`) // gitremote-helpers(7): "ext::command"
	knownAddress  = regexp.MustCompile(`^(?i:https?|ssh|git|git\+ssh|ssh\+git|file|ftps?)://`)
)

// addressProblem is why git must not be given an address to fetch from; "" when it may.
func addressProblem(address string) string {
	plain, err := url.PathUnescape(address)
	if err != nil {
		plain = address
	}
	scheme, rest, full := strings.Cut(plain, "://")
	if !full {
		rest = scheme
	}
	user := rest
	if i := strings.IndexAny(user, "/:"); i >= 0 {
		user = user[:i]
	}
	host := user[strings.LastIndexByte(user, '@')+1:]
	switch {
	case strings.HasPrefix(plain, "-"), strings.HasPrefix(user, "-"), strings.HasPrefix(host, "-"):
		return "reads as an option"
	case strings.ContainsFunc(plain, unicode.IsControl):
		return "holds control characters"
	case helperAddress.MatchString(plain):
		return "starts a program"
	case full && !knownAddress.MatchString(plain):
		return "is of an unknown kind"
	}
	return ""
}
