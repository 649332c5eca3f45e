package usage

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// Manual is the manual page of the whole command tree, as man(1) reads it. Every command has its own section with its
// description, its examples and its flags.
func Manual(app *cli.App) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n.I COMMAND\n[\\fIOPTION\\fR ...] [\\fIARGUMENT\\fR ...]\n.SH DESCRIPTION\n",
		strings.ToUpper(roff(app.Name)), roff(app.Name), roff(app.Usage), roff(app.Name))
	writeText(&b, app.Description)
	b.WriteString(".SH COMMANDS\n")
	writeCommands(&b, app.Name, app.Commands)
	return b.String(), nil
}

func writeCommands(b *strings.Builder, before string, cmds []*cli.Command) {
	for _, c := range cmds {
		if c.Hidden {
			continue
		}
		name := before + " " + c.Name
		if len(c.Subcommands) > 0 {
			writeCommands(b, name, c.Subcommands)
			continue
		}
		fmt.Fprintf(b, ".SS %s %s\n%s.\n", roff(name), roff(c.ArgsUsage), roff(c.Usage))
		if c.Description != "" {
			b.WriteString(".PP\n")
			writeText(b, c.Description)
		}
		for _, f := range c.Flags {
			flag, ok := f.(cli.DocGenerationFlag)
			if v, visible := f.(cli.VisibleFlag); !ok || visible && !v.IsVisible() {
				continue
			}
			var names []string
			for _, n := range f.Names() {
				names = append(names, strings.Repeat("-", min(len(n), 2))+n)
			}
			word, text := unquoted(flag.GetUsage())
			if flag.TakesValue() {
				if word == "" {
					word = "VALUE"
				}
				names[len(names)-1] += " " + word
			}
			fmt.Fprintf(b, ".TP\n\\fB%s\\fR\n%s\n", roff(strings.Join(names, ", ")), roff(text))
		}
	}
}

// unquoted takes the name of a flag's value, which stands in backquotes, out of its usage.
func unquoted(text string) (word, plain string) {
	_, rest, ok := strings.Cut(text, "`")
	if word, _, closed := strings.Cut(rest, "`"); ok && closed {
		return word, strings.ReplaceAll(text, "`", "")
	}
	return "", text
}

// writeText writes a description: what is indented stays as it is, the rest is filled.
func writeText(b *strings.Builder, text string) {
	literal := false
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if indented := strings.HasPrefix(line, "   "); indented != literal && strings.TrimSpace(line) != "" {
			b.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[indented])
			literal = indented
		}
		if strings.TrimSpace(line) == "" {
			line = ".PP"
		} else {
			line = roff(line)
		}
		b.WriteString(line + "\n")
	}
	if literal {
		b.WriteString(".fi\n")
	}
}

// roff writes a line so that it is read as text: no requests, no escapes, no typographic hyphens.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
