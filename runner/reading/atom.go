package reading

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"sandboxrun/runner/check"
)

// atomKind says how a piece of a sentence was set apart.
type atomKind int

const (
	atomCode  atomKind = iota // in backticks
	atomQuote                 // in quotation marks
	atomPath                  // a bare word that can only be a path
)

// first is the first private character of the kind; 256 of each are more than maxAtoms.
func (k atomKind) first() rune { return 0xE000 + rune(k)*0x100 }

// atom is a piece of a sentence that patterns treat as one word.
type atom struct {
	kind atomKind
	text string
}

// closing are the quotation marks and their ends.
var closing = map[rune]rune{'"': '"', '“': '”', '「': '」', '『': '』', '\'': '\'', '‘': '’', '《': '》'}

// atomAt is the atom that begins at i; end is i where none does. A mark without its end is an ordinary character, which no pattern
// has.
func atomAt(s []rune, i int) (a atom, end int) {
	r := s[i]
	if r == '｀' {
		r = '`'
	}
	if r == '`' {
		return codeAt(s, i)
	}
	if until, ok := closing[r]; ok {
		if r == '\'' && i > 0 && wordRune(s[i-1]) {
			return a, i // an apostrophe
		}
		for j := i + 1; j < len(s) && s[j] != '\n'; j++ {
			if s[j] == until && (until != '\'' && until != '’' || j+1 == len(s) || !wordRune(s[j+1])) {
				return atom{atomQuote, string(s[i+1 : j])}, j + 1
			}
		}
		return a, i
	}
	if !pathRune(r) || i > 0 && (pathRune(s[i-1]) || s[i-1] == ':') {
		return a, i
	}
	end = i
	for end < len(s) && pathRune(s[end]) {
		end++
	}
	word := string(s[i:end])
	if !strings.HasSuffix(word, "/...") {
		word = strings.TrimRight(word, ".?!")
	}
	if strings.Contains(string(s[i:min(end+3, len(s))]), "://") || !pathLike(word, false) {
		return a, i
	}
	return atom{atomPath, word}, i + len([]rune(word))
}

// codeAt reads a piece in backticks, which may be several.
func codeAt(s []rune, i int) (a atom, end int) {
	tick := func(j int) bool { return j < len(s) && (s[j] == '`' || s[j] == '｀') }
	n := 0
	for tick(i + n) {
		n++
	}
	for j := i + n; j < len(s) && s[j] != '\n'; j++ {
		if !tick(j) {
			continue
		}
		m := 0
		for tick(j + m) {
			m++
		}
		if inner := strings.TrimSpace(string(s[i+n : j])); m == n && inner != "" {
			return atom{atomCode, inner}, j + m
		}
		j += m - 1
	}
	return a, i
}

func wordRune(r rune) bool {
	return unicode.IsLetter(r) && !unicode.Is(unicode.Han, r) || unicode.IsDigit(r)
}

func pathRune(r rune) bool {
	return r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./*-@+?{}[]", r))
}

// directories are names that a repository has for its directories; a bare pair of words such as client/server is a path only when it
// begins with one.
var directories = strings.Fields(`api app apps assets backend bin build client cmd config configs dist doc docs etc examples frontend include internal
	lib libs migrations modules node_modules packages pkg public resources runner schemas script scripts server spec src static test tests testdata third_party
	tools util utils vendor web .github .vscode .circleci`)

// extensions are the last parts of names that can only be files: other words with a dot, such as parser.Parse, are names of code.
var extensions = strings.Fields(`bash bat c cc cfg cjs conf cpp cs css csv cxx dart env ex exs fish go gradle graphql h hpp htm html ini ipynb java jpeg jpg js
	json jsonc jsx kt kts less lock lua m md mdx mjs mk mod mts patch php pl png proto ps1 properties pxd py pyi pyx r rb rs rst sass scala scss sh
	snap sql sum svelte svg swift tf toml ts tsx txt vue work xml yaml yml zig zsh`)

// fileNames are names of files without a last part.
var fileNames = strings.Fields(`Makefile Dockerfile LICENSE NOTICE README CHANGELOG CODEOWNERS Gemfile Rakefile Procfile Jenkinsfile Vagrantfile Pipfile
	.gitignore .gitattributes .dockerignore .editorconfig .env .npmrc .nvmrc .eslintrc .prettierrc .babelrc`)

var (
	versionLike = regexp.MustCompile(`^v?[0-9]+(\.[0-9x*]+)*$`)
	pairOfWords = regexp.MustCompile(`^[A-Za-z]+(/[A-Za-z]+)+$`)
)

// pathLike says that a word can only be a path or a glob of the repository; quoted words, which somebody set apart, need less to be
// one.
func pathLike(word string, quoted bool) bool {
	clean := strings.TrimPrefix(word, "./")
	if strings.HasPrefix(word, "./") && strings.HasSuffix(word, "/...") {
		return true
	}
	if clean == "" || versionLike.MatchString(clean) || strings.ContainsAny(clean, " \t") {
		return false
	}
	base := path.Base(clean)
	ext := strings.TrimPrefix(path.Ext(base), ".")
	known := slices.Contains(extensions, ext) || slices.Contains(fileNames, base)
	if !strings.Contains(clean, "/") {
		return known || strings.HasPrefix(clean, "*.") && ext != "" || quoted && strings.HasPrefix(clean, ".") && len(clean) > 1
	}
	if ext != "" && unicode.IsUpper([]rune(ext)[0]) {
		return false // a name of code, such as internal/parser.Parse
	}
	first, _, _ := strings.Cut(clean, "/")
	switch {
	case quoted, known, strings.HasSuffix(clean, "/"), strings.Contains(clean, "*"), strings.HasSuffix(clean, "/..."), strings.HasPrefix(word, "./"):
		return true
	}
	return slices.Contains(directories, first) || !pairOfWords.MatchString(clean) && strings.Count(clean, "/") > 1
}

// glob is the atom as a glob of the repository; "" where it is none. Square brackets and braces stand in names of files, too, so
// nobody can tell what is meant by them.
func (a atom) glob() string {
	if a.kind != atomPath && !pathLike(a.text, true) {
		return ""
	}
	g := strings.TrimPrefix(a.text, "./")
	if strings.HasSuffix(g, "/...") {
		g = strings.TrimSuffix(g, "...") + "**"
	}
	if g = strings.TrimSuffix(g, "/"); strings.ContainsAny(g, "[]{}?\\") || check.ValidGlob(g) != "" {
		return ""
	}
	return g
}
