package report

import (
	"fmt"
	"strings"
)

// markdown writes every text of strangers as code, in which neither links, mentions nor HTML mean anything.
func markdown(v *view) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "## sandboxrun: %s\n\n", v.heading())
	if f := v.Failure; f != nil {
		fmt.Fprintf(&b, "%s\n", span(f.Message))
		for _, d := range f.Details {
			fmt.Fprintf(&b, "- %s %s\n", span(d.Path), span(d.Message))
		}
		if f.Hint != "" {
			fmt.Fprintf(&b, "\nWhat to do: %s\n", span(f.Hint))
		}
		return []byte(b.String()), nil
	}
	fmt.Fprintf(&b, "%s\n\n- task %s, run %s\n", span(v.Summary), span(v.TaskID), span(v.RunID))
	if v.Git.Branch != "" {
		fmt.Fprintf(&b, "- branch %s\n", span(v.Git.Branch))
	}
	if v.NotesForHuman != "" {
		fmt.Fprintf(&b, "- note: %s\n", span(v.NotesForHuman))
	}
	v.markdownIssues(&b)
	v.markdownVerdicts(&b)
	v.markdownFiles(&b)
	v.markdownCommands(&b)
	if v.Cut || v.FilesOmitted > 0 {
		b.WriteString("\nLists and texts were cut; the result document has all of them.\n")
	}
	return []byte(b.String()), nil
}

func (v *view) markdownIssues(b *strings.Builder) {
	if len(v.Issues) > 0 {
		b.WriteString("\n### Issues\n\n")
	}
	for _, i := range v.Issues {
		fmt.Fprintf(b, "- **%s** %s", span(i.Code), span(i.Description))
		if i.Path != "" {
			fmt.Fprintf(b, " in %s", span(i.Path))
		}
		fmt.Fprintf(b, "; %s\n", span(i.SuggestedAction))
	}
}

func (v *view) markdownVerdicts(b *strings.Builder) {
	for _, part := range v.judged() {
		if len(part.list) > 0 {
			fmt.Fprintf(b, "\n### %s\n\n", part.title)
		}
		for _, j := range part.list {
			fmt.Fprintf(b, "- %s **%s** %s\n", mark(j.Verdict), span(j.Text), span(j.Evidence))
		}
	}
}

func (v *view) markdownFiles(b *strings.Builder) {
	if len(v.FilesChanged) > 0 {
		b.WriteString("\n### Changed files\n\n")
	}
	for _, f := range v.FilesChanged {
		fmt.Fprintf(b, "- %s %s +%d -%d\n", f.ChangeType, span(f.Path), f.Additions, f.Deletions)
	}
}

func (v *view) markdownCommands(b *strings.Builder) {
	for _, c := range v.CommandsRun {
		if c.Source != "runner" {
			continue
		}
		fmt.Fprintf(b, "\n<details><summary>%s: exit %s</summary>\n\n%s\n", c.Phase, exit(c.ExitCode), fence(c.Command))
		for _, out := range []string{c.StdoutExcerpt, c.StderrExcerpt} {
			if out != "" {
				b.WriteString("\n" + fence(out) + "\n")
			}
		}
		b.WriteString("\n</details>\n")
	}
}

func mark(verdict string) string {
	switch verdict {
	case "pass":
		return "✅"
	case "fail":
		return "❌"
	}
	return "❔ unverifiable"
}

func exit(code *int) string {
	if code == nil {
		return "unknown"
	}
	return fmt.Sprint(*code)
}

// span is text as code in a line.
func span(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		return "–"
	}
	ticks := strings.Repeat("`", longest(s)+1)
	return ticks + " " + s + " " + ticks
}

// fence is text as a block of code.
func fence(s string) string {
	ticks := strings.Repeat("`", max(3, longest(s)+1))
	return ticks + "text\n" + strings.TrimRight(s, "\n") + "\n" + ticks
}

// longest is the length of the longest row of backticks.
func longest(s string) int {
	most, row := 0, 0
	for _, c := range s {
		if row++; c != '`' {
			row = 0
		}
		most = max(most, row)
	}
	return most
}
