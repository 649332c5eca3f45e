package gitdiff

import (
	"regexp"
	"strings"
)

// Bounds of a commit message.
const (
	maxSubject      = 200 // runes of the first line
	maxMessageLine  = 500
	maxMessageLines = 100
)

// trailer is a line that git, and the services around it, take for a statement about the commit: who signed it off, wrote
// it, reviewed it. See git-interpret-trailers(1).
var trailer = regexp.MustCompile(`(?i)^\s*([a-z0-9-]+\s*[:=#]([^/]|$)|\(cherry picked from)`)

// cleanMessage makes a commit message of text nobody vouches for: one subject line, no control characters, no line that
// git reads as a trailer, a bounded size.
func cleanMessage(text string) string {
	text = strings.ReplaceAll(text[:min(len(text), maxMessageLines*maxMessageLine)], "\r\n", "\n")
	subject, body, _ := strings.Cut(strings.TrimSpace(text), "\n")
	out := []string{clip(strings.TrimSpace(strings.ReplaceAll(subject, "\t", " ")), maxSubject)}
	if out[0] == "" {
		out[0] = "sandboxrun"
	}
	if body = strings.TrimSpace(body); body == "" {
		return out[0] + "\n"
	}
	out = append(out, "")
	for line := range strings.SplitSeq(body, "\n") {
		if len(out) == maxMessageLines {
			out = append(out, "[...]")
			break
		}
		line = clip(strings.TrimRight(strings.ReplaceAll(line, "\t", "    "), " "), maxMessageLine)
		if trailer.MatchString(line) {
			line = "> " + line
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n") + "\n"
}
