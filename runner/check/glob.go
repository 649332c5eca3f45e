package check

import (
	"path"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// ValidGlob says why a pattern cannot name paths of a repository; "" when it
// can. Patterns are doublestar's, relative to the root and slash-separated.
func ValidGlob(pattern string) string {
	p := strings.TrimSuffix(pattern, "/")
	switch {
	case p == "":
		return "must not be empty"
	case strings.HasPrefix(p, "/"):
		return "must be relative to the root of the repository"
	case !doublestar.ValidatePattern(p):
		return "is not a valid glob"
	case path.Clean(p) != p || p == "." || p == ".." || strings.HasPrefix(p, "../"):
		return "must not hold empty, \".\" or \"..\" segments"
	}
	return ""
}

// globs is a list of valid patterns. A pattern without wildcards names a path
// and everything below it.
type globs []string

// permit matches exactly: what is allowed must be spelled as it was allowed.
func (g globs) permit(name string) bool {
	for _, p := range g {
		p = strings.TrimSuffix(p, "/")
		if doublestar.MatchUnvalidated(p, name) || !hasMeta(p) && strings.HasPrefix(name, p+"/") {
			return true
		}
	}
	return false
}

// forbid matches broadly: also everything below a match, and every spelling
// that some file system takes for the same name (letter case, composed and
// decomposed characters, characters nobody sees).
func (g globs) forbid(name string) bool {
	folded := fold(name)
	for _, p := range g {
		p = strings.TrimSuffix(p, "/")
		if covers(p, name) || covers(fold(p), folded) {
			return true
		}
	}
	return false
}

func covers(pattern, name string) bool {
	return doublestar.MatchUnvalidated(pattern, name) || doublestar.MatchUnvalidated(pattern+"/**", name)
}

// fold maps the spellings of a name to one. HFS+ ignores the format characters
// dropped here (git: utf8.c, next_hfs_char), case-insensitive file systems the
// case, and macOS the form of composition.
func fold(s string) string {
	visible := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(visible)))
}

func hasMeta(p string) bool { return strings.ContainsAny(p, `*?[{\`) }
