package change

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// maxSectionLine bounds the bytes of a line that is searched for the name of a section.
const maxSectionLine = 512

// sectionRule finds the lines that name a function or section in one kind of file. Go's regular expressions take time
// linear in the line, whatever it holds.
type sectionRule struct {
	line    func() *regexp.Regexp
	guessed bool // the kind of file is not known
}

// expression compiles an expression when it is first wanted: every start of this program would wait for all of them.
func expression(line string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(line) })
}

func rule(line string, extensions ...string) {
	r := &sectionRule{line: expression(line)}
	for _, e := range extensions {
		sectionRules[e] = r
	}
}

var (
	sectionRules = map[string]*sectionRule{}
	// anySection is git's default: a line that begins with a letter, an underscore or a dollar sign (def_ff in git's
	// xdiff-interface.c).
	anySection = &sectionRule{line: expression(`^[A-Za-z_$]`), guessed: true}
	noSection  = &sectionRule{line: expression(`^\z.`)}
)

// The rules follow git's userdiff.c where it has one for the language, in short form.
func init() {
	rule(`^(func|type|var|const|package)\b`, ".go")
	rule(`^\s*((async\s+)?def|class)\s`, ".py", ".pyi")
	rule(`^\s*(export\s+)?(default\s+)?(abstract\s+)?(async\s+)?(function\b|class\s|interface\s|enum\s|namespace\s|type\s+\w+\s*[=<]|`+
		`(const|let|var)\s+\w+\s*=\s*(async\s*)?(function\b|\(.*=>|\w+\s*=>))|^(describe|it|test)\(`,
		".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte")
	rule(`^\s*(pub(\([^)]*\))?\s+)?(async\s+|const\s+|unsafe\s+|extern\s+"[^"]*"\s+)*(fn|struct|enum|union|trait|impl|mod|macro_rules!)\b`, ".rs")
	rule(`^\s*(((public|private|protected|internal|static|final|abstract|sealed|override|async|partial|synchronized|open|data|suspend|inline|fileprivate)\s+)*`+
		`(class|interface|enum|record|struct|object|trait|protocol|extension|fun|func|namespace)\s|`+
		`((public|private|protected|internal|static|final|abstract|override|async|virtual|synchronized)\s+)+[\w<>\[\], .?]+\()`,
		".java", ".kt", ".kts", ".cs", ".swift", ".scala")
	rule(`^\s*(class|module|def)\s`, ".rb", ".rake", ".ex", ".exs", ".cr")
	rule(`^\s*(((abstract|final|public|private|protected|static)\s+)*function\b|((abstract|final)\s+)?class\s|interface\s|trait\s)`, ".php")
	rule(`^#{1,6}[ \t]+\S`, ".md", ".markdown")
	rule(`^\s*(function\s+[\w:-]+|[\w:-]+\s*\(\))`, ".sh", ".bash", ".zsh")
	rule(`^[A-Za-z_][\w:<>*&, ~]*\(|^(class|struct|enum|union|namespace|template|typedef)\b`,
		".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".m", ".mm")
	rule(`^\s*\[[^\]]+\]`, ".toml", ".ini", ".cfg", ".conf")
	rule(`^[\w"'.-]+:`, ".yaml", ".yml")
	rule(`^[A-Za-z0-9_.%/$()-]+[^:=]*:([^=]|$)`, ".mk", "makefile")
	rule(`^[@.#:A-Za-z][^;]*\{`, ".css", ".scss", ".less")
	rule(`(?i)^\s*(create|alter|drop)\s`, ".sql")
	rule(`^\s*(message|service|enum|rpc)\s`, ".proto")
	rule(`^\s*(resource|data|module|variable|output|provider|locals)\b`, ".tf", ".hcl")
	for _, data := range []string{".json", ".lock", ".sum", ".svg", ".xml", ".csv", ".txt", ".html"} {
		sectionRules[data] = noSection
	}
}

// sectionsOf is the rule for a path, by the end of its name.
func sectionsOf(name string) *sectionRule {
	base := strings.ToLower(path.Base(name))
	if r := sectionRules[base]; r != nil {
		return r
	}
	if r := sectionRules[path.Ext(base)]; r != nil {
		return r
	}
	return anySection
}

// names reports whether a line names a section.
func (r *sectionRule) names(line string) bool {
	return r.line().MatchString(strings.TrimRight(line[:min(len(line), maxSectionLine)], "\r\n"))
}

// sections gives for each line the index of the nearest line at or above it that names a section, or -1.
func (r *sectionRule) sections(lines []string) []int {
	at := make([]int, len(lines))
	last := -1
	for i, line := range lines {
		if r.names(line) {
			last = i
		}
		at[i] = last
	}
	return at
}

// hunkComment is the section as a hunk's header shows it: raw as the patch is, one line, at most 80 bytes as in git.
func hunkComment(line string) string {
	line = strings.TrimSpace(line[:min(len(line), 80)])
	line, _, _ = strings.Cut(line, "\r")
	return line
}
