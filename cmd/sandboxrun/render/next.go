package render

import (
	"fmt"
	"io"
	"strings"

	"sandboxrun/runner/document"
)

// WriteNext writes what a person can do with a result: look at it, take it, discard it. repo is the repository it is of.
func WriteNext(w io.Writer, term Terminal, r *document.Result, repo string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", term.Paint(ColorBold, "next"))
	step := func(command, what string) { fmt.Fprintf(&b, "  %-48s  %s\n", Printable(command), what) }
	if len(r.FilesChanged) > 0 {
		step("sandboxrun runs diff "+r.RunID, "review the change")
	}
	if r.Git.Branch != "" {
		step("git -C "+quoted(repo)+" merge "+r.Git.Branch, "take it, as a merge")
	}
	if len(r.FilesChanged) > 0 && r.Git.Patch != "" {
		step("sandboxrun apply "+r.RunID, "take it, into the working tree")
	}
	if r.Git.Branch != "" {
		step("git -C "+quoted(repo)+" branch -D "+r.Git.Branch, "discard it")
	}
	if r.Status != document.StatusSuccess {
		step("sandboxrun runs logs "+r.RunID, "see what happened")
	}
	if b.Len() > 0 && strings.Count(b.String(), "\n") > 2 {
		_, err := io.WriteString(w, b.String())
		return err
	}
	return nil
}

// quoted is a word as a shell reads it.
func quoted(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("/._-+@:", r)
	}) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
