package plan

import (
	"fmt"
	"path"
	"strings"

	"sandboxrun/runner/document"
	"sandboxrun/sandbox"
)

// prompt describes for the agent the task and its surroundings. It holds only the caller's text and what is always
// true; notes_for_human are not included.
func prompt(t *document.Task, p *Plan) string {
	var b strings.Builder
	section := func(title, text string) {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(&b, "# %s\n\n%s\n\n", title, text)
		}
	}
	section("Objective", t.Objective)
	if t.Instructions != t.Objective { // a task made of one sentence has it in both
		section("Instructions", t.Instructions)
	}
	section("Constraints", bullets(constraintLines(t, p)))
	section("Done when", bullets(doneLines(p)))
	section("Files of interest", bullets(interestLines(t)))
	section("Surroundings", bullets(surroundings(p)))
	return strings.TrimSpace(b.String()) + "\n"
}

func bullets(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		// A line break inside an item must not begin an item of its own.
		fmt.Fprintf(&b, "- %s\n", strings.ReplaceAll(strings.TrimSpace(l), "\n", "\n  "))
	}
	return b.String()
}

func constraintLines(t *document.Task, p *Plan) []string {
	var lines []string
	for _, c := range t.Constraints {
		if c.Kind == "" {
			lines = append(lines, c.Text)
		} else {
			lines = append(lines, "Checked by machine: "+c.Text)
		}
	}
	if len(p.Protected) > 0 {
		lines = append(lines, "Do not touch: "+strings.Join(p.Protected, ", "))
	}
	return lines
}

func doneLines(p *Plan) []string {
	var lines []string
	for _, c := range p.Criteria {
		if c.Command == "" {
			lines = append(lines, c.Text)
		}
	}
	for _, v := range p.Verify {
		lines = append(lines, fmt.Sprintf("This command exits with %d: %s", v.ExpectExit, v.Command))
	}
	return lines
}

func interestLines(t *document.Task) []string {
	var lines []string
	for _, f := range t.Context.FilesOfInterest {
		lines = append(lines, path.Clean(f))
	}
	return lines
}

func surroundings(p *Plan) []string {
	lines := []string{
		fmt.Sprintf("The repository is in %s, your working directory: a private copy that is deleted afterwards.", sandbox.WorkDir),
	}
	readOnly := p.Agent != nil && p.Agent.ReadOnly
	if readOnly {
		lines = append(lines, "You cannot change any file in it. Read the code and make a plan: your last message, the plan, is the result.")
	} else {
		lines = append(lines, "Leave the result as files there. You need not commit, and your commits are not kept: only the difference from the initial state counts.")
	}
	lines = append(lines, "There is no network: nothing can be downloaded or installed.")
	if p.Agent != nil && p.Agent.Approvals.Policy == document.ApproveAsk {
		lines = append(lines, "A person may be asked before one of your tools runs, and may refuse. Where something is unclear, use your tool for questions, if you have one.")
	} else {
		lines = append(lines, "No one can answer questions. Where something is unclear, choose the most sensible interpretation and say so at the end.")
	}
	if len(p.Verify) > 0 && !readOnly {
		lines = append(lines, "The commands above run afterwards on your files in a fresh copy, without anything you installed or left running outside of it.")
	}
	if len(p.Work) > 0 {
		lines = append(lines, "When you are finished, these commands run here, and their changes count too: "+strings.Join(p.Work, "; "))
	}
	if readOnly {
		return lines
	}
	return append(lines, "End with a short summary of what you changed and why.")
}
