package change

import (
	"fmt"
	"strings"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitname"
)

// maxAttributeLine is how long a line of .gitattributes may be for git to read it (ATTR_MAX_LINE_LENGTH in its attr.h).
const maxAttributeLine = 2048

// JudgeAttributes reports what the new lines of a .gitattributes switch on.
func JudgeAttributes(was, now string) []gitdiff.Finding {
	known := map[string]bool{}
	for line := range strings.Lines(was) {
		known[strings.TrimSpace(line)] = true
	}
	var out []gitdiff.Finding
	seen := map[string]bool{}
	for line := range strings.Lines(now) {
		if len(strings.TrimSuffix(line, "\n")) >= maxAttributeLine && !known[strings.TrimSpace(line)] {
			return []gitdiff.Finding{{Class: classRefused, Detail: fmt.Sprintf("a line of %d bytes, which git does not read", len(line)), Grade: gitdiff.Refuse}}
		}
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' || known[line] {
			continue
		}
		for _, token := range strings.Fields(line)[1:] {
			why := attributeEffect(token)
			if why == "" || seen[why] {
				continue
			}
			seen[why] = true
			out = append(out, gitdiff.Finding{Class: classAttributes, Detail: fmt.Sprintf("%s (%q)", why, gitname.Clip(line, 120)), Grade: gitdiff.Note})
		}
	}
	return out
}

// attributeEffect is what an attribute does beyond line ends; "" for one that is harmless.
func attributeEffect(token string) string {
	name, value, _ := strings.Cut(token, "=")
	switch strings.ToLower(name) {
	case "filter":
		return "runs a configured program on checkout"
	case "merge":
		if value != "" && value != "union" && value != "text" && value != "binary" {
			return "runs a configured program on merges"
		}
	case "diff":
		if value != "" {
			return "may run a configured program on diffs"
		}
	case "-diff", "binary", "linguist-generated", "linguist-vendored":
		return "hides changes from review"
	case "working-tree-encoding", "ident", "export-subst":
		return "checks out other bytes than were recorded"
	}
	return ""
}
