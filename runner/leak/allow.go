package leak

import (
	"regexp"
	"strings"
)

// allowText says what is no secret although a rule finds it.
type allowText struct {
	Condition   string   `toml:"condition"`   // AND: everything named must hold; otherwise anything
	RegexTarget string   `toml:"regexTarget"` // match, line, or the secret
	Paths       []string `toml:"paths"`
	Regexes     []string `toml:"regexes"`
	Stopwords   []string `toml:"stopwords"`
}

type allowance struct {
	allowText
	paths, contents []*regexp.Regexp
}

func (t allowText) compiled() (*allowance, error) {
	a := &allowance{allowText: t}
	for _, e := range []struct {
		texts []string
		to    *[]*regexp.Regexp
	}{{t.Paths, &a.paths}, {t.Regexes, &a.contents}} {
		for _, text := range e.texts {
			re, err := regexp.Compile(text)
			if err != nil {
				return nil, err
			}
			*e.to = append(*e.to, re)
		}
	}
	return a, nil
}

// finding is what an allowance is asked about.
type finding struct {
	path, line, match, secret string
}

// excuses says whether the finding is none. Paths alone excuse where pathsToo
// is set.
func (a *allowance) excuses(f finding, pathsToo bool) bool {
	target := f.secret
	switch a.RegexTarget {
	case "match":
		target = f.match
	case "line":
		target = f.line
	}
	path, content, word := matchesAny(a.paths, f.path), matchesAny(a.contents, target), hasWord(f.secret, a.Stopwords)
	if strings.EqualFold(a.Condition, "AND") {
		return (path || len(a.paths) == 0) && (content || len(a.contents) == 0) && (word || len(a.Stopwords) == 0)
	}
	return content || word || path && pathsToo
}

func matchesAny(list []*regexp.Regexp, s string) bool {
	for _, re := range list {
		if re.MatchString(s) {
			return true
		}
	}
	return false
}

func hasWord(s string, words []string) bool {
	s = strings.ToLower(s)
	for _, w := range words {
		if strings.Contains(s, strings.ToLower(w)) {
			return true
		}
	}
	return false
}
