package render

import (
	"fmt"
	"io"
	"sort"
	"strings"

	"sandboxrun/runner/document"
)

// maxRows bounds the entries of one section of a report; the JSON has all.
const maxRows = 40

// reportWriter writes a result for people. Every text that a box could have influenced passes Printable.
type reportWriter struct {
	b    strings.Builder
	term Terminal
}

// WriteReport writes r to w in one write.
func WriteReport(w io.Writer, term Terminal, r *document.Result) error {
	o := &reportWriter{term: term}
	o.head(r)
	list(o, "files changed", r.FilesChanged, r.FilesOmitted, o.file)
	list(o, "commands run", r.CommandsRun, 0, o.command)
	list(o, "constraints", r.Constraints, 0, o.judged)
	list(o, "acceptance", r.Acceptance, 0, o.judged)
	list(o, "issues", r.Issues, 0, o.issue)
	o.git(r.Git)
	o.agent(r.Agent)
	o.box(r.Box)
	o.timing(r.Timing)
	_, err := io.WriteString(w, o.b.String())
	return err
}

// list writes one section with an entry per row, none without entries. omitted is the number of entries that the
// result counts but does not list.
func list[T any](o *reportWriter, name string, entries []T, omitted int, row func(T)) {
	if len(entries) == 0 {
		return
	}
	o.section(name)
	for _, e := range entries[:min(len(entries), maxRows)] {
		row(e)
	}
	if more := max(0, len(entries)-maxRows) + omitted; more > 0 {
		o.rowf(ColorDim, "… and %d more", more)
	}
}

func (o *reportWriter) section(name string) {
	fmt.Fprintf(&o.b, "\n%s\n", o.term.Paint(ColorBold, name))
}

// rowf writes one indented line, cut to the terminal when there is one.
func (o *reportWriter) rowf(color, format string, args ...any) {
	text := Printable(fmt.Sprintf(format, args...))
	if o.term.IsTTY {
		text = Fit(text, o.term.width-3)
	}
	fmt.Fprintf(&o.b, "  %s\n", o.term.Paint(color, text))
}

// wholef is rowf without cutting, for text that a person may want to copy.
func (o *reportWriter) wholef(format string, args ...any) {
	fmt.Fprintf(&o.b, "  %s\n", Printable(fmt.Sprintf(format, args...)))
}

func (o *reportWriter) head(r *document.Result) {
	fmt.Fprintf(&o.b, "%s  %s\n", o.term.Paint(statusColor(string(r.Status)), string(r.Status)), Printable(r.Summary))
	o.wholef("run %s  task %s", r.RunID, r.TaskID)
	if r.NotesForHuman != "" {
		o.rowf("", "note: %s", r.NotesForHuman)
	}
}

func (o *reportWriter) file(f document.FileChange) {
	what := fmt.Sprintf("%-8s %s (+%d -%d)", f.ChangeType, f.Path, f.Additions, f.Deletions)
	if f.Binary {
		what = fmt.Sprintf("%-8s %s (binary)", f.ChangeType, f.Path)
	}
	if f.OldPath != "" {
		what += " from " + f.OldPath
	}
	if len(f.Highlights) > 0 {
		what += "  " + strings.Join(f.Highlights, ", ")
	}
	o.rowf("", "%s", what)
}

func (o *reportWriter) command(c document.CommandRun) {
	exit, color := "did not end", ColorBad
	if c.ExitCode != nil {
		exit, color = fmt.Sprintf("exit %d", *c.ExitCode), ""
		if *c.ExitCode != 0 {
			color = ColorWarn
		}
	}
	if c.TimedOut {
		exit = "timed out"
	}
	who := c.Phase
	if c.Source != "runner" {
		who = "the agent says"
	}
	o.rowf(color, "%-12s %s  (%s)", exit, c.Command, who)
}

func (o *reportWriter) judged(j document.Judged) {
	color := map[string]string{"pass": ColorGood, "fail": ColorBad}[j.Verdict]
	o.rowf(color, "%-13s %s%s", j.Verdict, j.Text, because(j.Evidence))
}

func (o *reportWriter) issue(i document.Issue) {
	where := ""
	if i.Path != "" {
		where = i.Path + ": "
	}
	o.rowf(ColorWarn, "%s: %s%s", i.Code, where, i.Description)
	if i.SuggestedAction != "" {
		o.rowf(ColorDim, "  → %s", i.SuggestedAction)
	}
}

func (o *reportWriter) git(g document.GitResult) {
	o.section("git")
	for _, f := range [][2]string{{"base", g.BaseCommit}, {"branch", g.Branch}, {"commit", g.Commit}, {"tree", g.Tree}, {"patch", g.Patch}} {
		if f[1] != "" {
			o.wholef("%-7s %s", f[0], f[1])
		}
	}
}

func (o *reportWriter) agent(a *document.AgentResult) {
	if a == nil {
		return
	}
	o.section("agent")
	o.rowf("", "%s %s %s", a.Name, a.CLIVersion, a.Model)
	o.rowf("", "%d requests, %d tokens in, %d tokens out", a.Usage.Requests, a.Usage.InputTokens, a.Usage.OutputTokens)
	if a.Claim != "" {
		o.rowf(ColorDim, "claims: %s", a.Claim)
	}
}

func (o *reportWriter) box(b *document.BoxResult) {
	if b == nil {
		return
	}
	o.section("box")
	o.wholef("%s, runtime %s, image %s (%s), tree by %s", b.Engine, b.Runtime, b.Image, b.ImageDigest, b.Layout)
	if len(b.Network.Denied) > 0 {
		o.rowf(ColorWarn, "network denied: %s", strings.Join(b.Network.Denied, ", "))
	}
	if !b.Cleanup.Complete {
		o.rowf(ColorBad, "not confirmed as removed: %s", strings.Join(b.Cleanup.Left, ", "))
	}
}

func (o *reportWriter) timing(ms map[string]int64) {
	var parts []string
	for name, took := range ms {
		if name != "total" && took > 0 {
			parts = append(parts, name)
		}
	}
	sort.Slice(parts, func(a, b int) bool { return ms[parts[a]] > ms[parts[b]] })
	for i, name := range parts {
		parts[i] = name + " " + shortDuration(ms[name])
	}
	o.section("time")
	o.wholef("%s: %s", shortDuration(ms["total"]), strings.Join(parts, ", "))
}
