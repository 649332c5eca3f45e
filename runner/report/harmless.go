package report

import (
	"regexp"
	"strings"

	"sandboxrun/runner/excerpt"
)

var (
	// atStart are commands of GitHub's runner at the beginning of a line.
	atStart = regexp.MustCompile(`(?m)^([ \t]*)::`)
	// anywhere are older commands of GitHub's runner and those of Azure Pipelines: both are looked for in all of a line.
	anywhere = regexp.MustCompile(`##(\[|vso\[)`)
	// sections are markers of GitLab's log.
	sections = regexp.MustCompile(`(section_(?:start|end)):`)
)

// Harmless makes text of strangers safe to print where a CI service reads the lines: control characters become visible, and
// what the services take for a command of the job is broken up.
func Harmless(s string) string {
	s = excerpt.Printable(s)
	s = atStart.ReplaceAllString(s, "$1: :")
	s = anywhere.ReplaceAllString(s, "# #$1")
	return strings.ReplaceAll(sections.ReplaceAllString(s, "$1 :"), "\r", `\r`)
}
