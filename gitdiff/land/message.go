package land

import (
	"regexp"
	"strings"

	"sandboxrun/gitdiff/gitname"
)

// Bounds of a commit message.
const (
	maxSubject      = 72 // runes of the first line: what logs, mails and web pages show of it
	maxMessageLine  = 500
	maxMessageLines = 100
	maxTrailerValue = 300
)

// Trailer is a statement at the end of a commit message. See git-interpret-trailers(1).
type Trailer struct{ Key, Value string }

var (
	// trailer is a line that git, and the services around it, read as a statement about the commit: who signed it off,
	// wrote it, reviewed it. A web address is none.
	trailer = regexp.MustCompile(`(?i)^\s*([a-z0-9-]+\s*[:=#]|\(cherry picked from)`)
	address = regexp.MustCompile(`(?i)^\s*[a-z0-9-]+://[^\s]`)
	// divider ends a message for the tools that read mails and patches, and they ignore everything behind it.
	divider = regexp.MustCompile(`^(---|diff --git|diff -|Index: |From [0-9a-f]{40} |# -+ >8)`)
)

// commitMessage is a cleaned message with the trailers at its end, in a paragraph of their own.
func commitMessage(text string, trailers []Trailer) string {
	text = cleanMessage(text)
	if len(trailers) == 0 {
		return text
	}
	var b strings.Builder
	b.WriteString(text + "\n")
	for _, t := range trailers {
		value := strings.Join(strings.Fields(t.Value), " ")
		b.WriteString(t.Key + ": " + gitname.Clip(value, maxTrailerValue) + "\n")
	}
	return b.String()
}

// cleanMessage makes a commit message of untrusted text: one subject line, no control characters, no line that
// git reads as a trailer or as the end of the message, a bounded size.
func cleanMessage(text string) string {
	text = strings.ReplaceAll(text[:min(len(text), maxMessageLines*maxMessageLine)], "\r\n", "\n")
	subject, body, _ := strings.Cut(strings.TrimSpace(text), "\n")
	subject = strings.TrimSpace(strings.ReplaceAll(subject, "\t", " "))
	out := []string{shorten(gitname.Clip(subject, maxMessageLine))} // git takes no subject for a trailer
	if len(subject) > maxSubject && out[0] != subject {
		body = subject + "\n\n" + strings.TrimSpace(body) // the whole sentence is the first paragraph
	}
	if divider.MatchString(out[0]) {
		out[0] = "> " + out[0]
	}
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
		out = append(out, cleanLine(strings.TrimRight(strings.ReplaceAll(line, "\t", "    "), " "), maxMessageLine))
	}
	return strings.Join(out, "\n") + "\n"
}

// shorten cuts a subject after the last word that fits.
func shorten(subject string) string {
	runes := []rune(subject)
	if len(runes) <= maxSubject {
		return subject
	}
	cut := string(runes[:maxSubject-1])
	if at := strings.LastIndexByte(cut, ' '); at > len(cut)/2 {
		cut = cut[:at]
	}
	return strings.TrimRight(cut, " ,;:.-") + "…"
}

// cleanLine makes a line that only people read.
func cleanLine(line string, limit int) string {
	line = gitname.Clip(line, limit)
	if trailer.MatchString(line) && !address.MatchString(line) || divider.MatchString(line) || strings.HasPrefix(line, "#") {
		return "> " + line
	}
	return line
}
