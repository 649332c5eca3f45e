package main

import (
	"fmt"
	"io"
	"sort"
	"strings"

	"sandboxrun/runner"
)

// maxRows bounds the entries of one section of a report; the JSON has all.
const maxRows = 40

// reportWriter writes a result for people. Every text that a box could have
// had a hand in goes through printable.
type reportWriter struct {
	b    strings.Builder
	term terminal
}

// writeReport writes r to w in one write.
func writeReport(w io.Writer, term terminal, r *runner.Result) error {
	o := &reportWriter{term: term}
	o.head(r)
	o.files(r.FilesChanged)
	o.commands(r.CommandsRun)
	o.judged("constraints", r.Constraints)
	o.judged("acceptance", r.Acceptance)
	o.issues(r.Issues)
	o.git(r.Git)
	o.agent(r.Agent)
	o.box(r.Box)
	o.timing(r.Timing)
	_, err := io.WriteString(w, o.b.String())
	return err
}

func (o *reportWriter) section(name string) {
	fmt.Fprintf(&o.b, "\n%s\n", o.term.paint(colorBold, name))
}

// rowf writes one indented line, cut to the terminal when there is one.
func (o *reportWriter) rowf(color, format string, args ...any) {
	text := printable(fmt.Sprintf(format, args...))
	if o.term.is {
		text = fit(text, o.term.width-3)
	}
	fmt.Fprintf(&o.b, "  %s\n", o.term.paint(color, text))
}

// wholef is rowf for what a person may want to copy: never cut.
func (o *reportWriter) wholef(format string, args ...any) {
	fmt.Fprintf(&o.b, "  %s\n", printable(fmt.Sprintf(format, args...)))
}

// more says how many entries of a section are not shown.
func (o *reportWriter) more(n int) {
	if n > maxRows {
		o.rowf(colorDim, "… and %d more", n-maxRows)
	}
}

func (o *reportWriter) head(r *runner.Result) {
	fmt.Fprintf(&o.b, "%s  %s\n", o.term.paint(statusColor(string(r.Status)), string(r.Status)), printable(r.Summary))
	o.wholef("run %s  task %s", r.RunID, r.TaskID)
	if r.NotesForHuman != "" {
		o.rowf("", "note: %s", r.NotesForHuman)
	}
}

func (o *reportWriter) files(list []runner.FileChange) {
	if len(list) == 0 {
		return
	}
	o.section("files changed")
	for _, f := range list[:min(len(list), maxRows)] {
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
	o.more(len(list))
}

func (o *reportWriter) commands(list []runner.CommandRun) {
	if len(list) == 0 {
		return
	}
	o.section("commands run")
	for _, c := range list[:min(len(list), maxRows)] {
		exit, color := "did not end", colorBad
		if c.ExitCode != nil {
			exit, color = fmt.Sprintf("exit %d", *c.ExitCode), ""
			if *c.ExitCode != 0 {
				color = colorWarn
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
	o.more(len(list))
}

func (o *reportWriter) judged(name string, list []runner.Judged) {
	if len(list) == 0 {
		return
	}
	o.section(name)
	colors := map[string]string{"pass": colorGood, "fail": colorBad}
	for _, j := range list[:min(len(list), maxRows)] {
		o.rowf(colors[j.Verdict], "%-13s %s%s", j.Verdict, j.Text, because(j.Evidence))
	}
	o.more(len(list))
}

func (o *reportWriter) issues(list []runner.Issue) {
	if len(list) == 0 {
		return
	}
	o.section("issues")
	for _, i := range list[:min(len(list), maxRows)] {
		where := ""
		if i.Path != "" {
			where = i.Path + ": "
		}
		o.rowf(colorWarn, "%s: %s%s", i.Code, where, i.Description)
		if i.SuggestedAction != "" {
			o.rowf(colorDim, "  → %s", i.SuggestedAction)
		}
	}
	o.more(len(list))
}

func (o *reportWriter) git(g runner.GitResult) {
	o.section("git")
	for _, f := range [][2]string{{"base", g.BaseCommit}, {"branch", g.Branch}, {"commit", g.Commit}, {"tree", g.Tree}, {"patch", g.Patch}} {
		if f[1] != "" {
			o.wholef("%-7s %s", f[0], f[1])
		}
	}
}

func (o *reportWriter) agent(a *runner.AgentResult) {
	if a == nil {
		return
	}
	o.section("agent")
	o.rowf("", "%s %s %s", a.Name, a.CLIVersion, a.Model)
	o.rowf("", "%d requests, %d tokens in, %d tokens out", a.Usage.Requests, a.Usage.InputTokens, a.Usage.OutputTokens)
	if a.Claim != "" {
		o.rowf(colorDim, "claims: %s", a.Claim)
	}
}

func (o *reportWriter) box(b *runner.BoxResult) {
	if b == nil {
		return
	}
	o.section("box")
	o.wholef("%s, runtime %s, image %s (%s), tree by %s", b.Engine, b.Runtime, b.Image, b.ImageDigest, b.Layout)
	if len(b.Network.Denied) > 0 {
		o.rowf(colorWarn, "network denied: %s", strings.Join(b.Network.Denied, ", "))
	}
	if !b.Cleanup.Complete {
		o.rowf(colorBad, "not confirmed as removed: %s", strings.Join(b.Cleanup.Left, ", "))
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
