// Package prompt asks the person at the terminal whether a tool may be called, and passes on the agent's questions.
package prompt

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"sandboxrun/agents"
	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/runner/approval"
)

// maxShownInput bounds the input shown for a decision, in bytes. A longer input is unreadable for a person and is
// denied.
const maxShownInput = approval.MaxShown

// terminalAsker asks the person at the terminal, one request at a time.
type terminalAsker struct {
	out  io.Writer
	term render.Terminal
	mu   *sync.Mutex // the screen: shows one question at a time, and no progress meanwhile
	in   *lineInput
}

// New returns an asker that writes its questions to out, which term describes, and reads the answers from the terminal
// this program was started from, because standard input may be the task. It is nil where there is no terminal. screen
// is locked while a question is shown. The returned function closes what New opened.
func New(out io.Writer, term render.Terminal, screen *sync.Mutex) (approval.Asker, func()) {
	if !term.IsTTY {
		return nil, func() {}
	}
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, func() {} // no terminal to read from
	}
	in, err := newLineInput(f)
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, func() {}
	}
	return &terminalAsker{out: out, term: term, mu: screen, in: in}, in.close
}

// Ask implements approval.Asker.
func (t *terminalAsker) Ask(ctx context.Context, p approval.Pending) (approval.Answer, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if ctx.Err() != nil {
		return approval.Answer{}, false
	}
	fmt.Fprint(t.out, "\r\x1b[K") // erases the progress line
	if len(p.Questions) > 0 {
		return t.question(ctx, p)
	}
	head := fmt.Sprintf("? %s wants to use %s (%s)", p.ID, render.Printable(p.Tool), p.Action)
	fmt.Fprintf(t.out, "%s\n%s", t.term.Paint(render.ColorBold, head), render.Indented(string(p.Input), maxShownInput))
	if len(p.Input) > maxShownInput {
		fmt.Fprintf(t.out, "  denied: %d bytes are more than can be shown\n", len(p.Input))
		return approval.Answer{Reason: "the input is too long for a person to read", By: "terminal"}, true
	}
	until := p.Deadline.Local().Format(time.TimeOnly) //nolint:gosmopolitan // a person reads a clock of theirs
	prefix := approval.Prefix(p.Command)
	keys := "y, n, a, t"
	if prefix != "" {
		keys += ", c"
	}
	for range maxTries {
		line, err := t.in.ask(ctx, t.out, "  allow? "+keys+"; ? explains (until "+until+"): ")
		if err != nil {
			t.showTimeout(ctx)
			return approval.Answer{}, false
		}
		a, again := decided(strings.TrimSpace(line), prefix)
		if again == "" {
			return a, true
		}
		fmt.Fprint(t.out, again)
	}
	return approval.Answer{Reason: "the user gave no answer that could be understood", By: "terminal"}, true
}

// maxTries bounds how often one request is asked again.
const maxTries = 100

// decided reads an answer; again is what is said instead of deciding anything. No single key denies but the one for it.
func decided(line, prefix string) (a approval.Answer, again string) {
	a = approval.Answer{Allow: true, By: "terminal"}
	word, rest, _ := strings.Cut(line, " ")
	switch strings.ToLower(word) {
	case "y", "yes":
		if rest == "" {
			return a, ""
		}
	case "a", "t", "c":
		a.For = map[string]approval.Scope{"a": approval.ScopeExact, "t": approval.ScopeTool, "c": approval.ScopePrefix}[strings.ToLower(word)]
		if rest == "" && (a.For != approval.ScopePrefix || prefix != "") {
			return a, ""
		}
	case "n", "no":
		if rest == "" {
			return approval.Answer{Reason: "denied by the user", By: "terminal"}, ""
		}
		return approval.Answer{Reason: "denied by the user: " + strings.TrimSpace(rest), By: "terminal"}, ""
	case "?":
		return a, explanation(prefix)
	}
	if rest != "" && len(word) > 1 { // a sentence
		return approval.Answer{Reason: "denied by the user: " + line, By: "terminal"}, ""
	}
	return a, "  that is no answer; ? explains\n"
}

func explanation(prefix string) string {
	text := "  y  allow this call\n" +
		"  n  deny it; what follows is told to the agent: n not that file\n" +
		"  a  allow it, and exactly the same again, for the rest of this run\n" +
		"  t  allow every call of this tool, for the rest of this run\n"
	if prefix != "" {
		text += fmt.Sprintf("  c  allow every command that begins with %q and is one command, for the rest of this run\n", render.Printable(prefix))
	}
	return text + "  the agent's box has no network and only a copy of the files, whatever is allowed\n"
}

// question passes the agent's questions on. An empty answer to any part leaves all of them to the agent.
func (t *terminalAsker) question(ctx context.Context, p approval.Pending) (approval.Answer, bool) {
	answers := map[string][]string{}
	for _, q := range p.Questions {
		fmt.Fprintf(t.out, "%s\n%s", t.term.Paint(render.ColorBold, "? "+p.ID+" asks"), render.Indented(q.Text, maxShownInput))
		for i, o := range q.Options {
			fmt.Fprintf(t.out, "  %d) %s  %s\n", i+1, render.Printable(o.Label), t.term.Paint(render.ColorDim, render.Printable(o.Description)))
		}
		hint := "  answer: "
		switch {
		case len(q.Options) > 0 && q.Multiple:
			hint = "  numbers separated by commas, or your own words: "
		case len(q.Options) > 0:
			hint = "  a number, or your own words: "
		}
		var chosen []string
		for range maxTries {
			line, err := t.in.ask(ctx, t.out, hint)
			if err != nil {
				t.showTimeout(ctx)
				return approval.Answer{}, false
			}
			list, wrong := choose(q, strings.TrimSpace(line))
			if wrong == "" {
				chosen = list
				break
			}
			fmt.Fprint(t.out, wrong)
		}
		if len(chosen) == 0 {
			return approval.Answer{Reason: "the user gave no answer; choose yourself and say what you chose", By: "terminal"}, true
		}
		answers[q.ID] = chosen
	}
	return approval.Answer{Allow: true, Answers: answers, By: "terminal"}, true
}

func (t *terminalAsker) showTimeout(ctx context.Context) {
	if cause := context.Cause(ctx); cause != nil {
		fmt.Fprintf(t.out, "\n  no longer needed: %s\n", render.Printable(cause.Error()))
	}
}

// choose reads an answer: numbers of options where there are any, words else. wrong is what is said of a number that no
// option has.
func choose(q agents.Question, line string) (list []string, wrong string) {
	if line == "" {
		return nil, ""
	}
	parts := []string{line}
	if q.Multiple {
		parts = strings.Split(line, ",")
	}
	for _, part := range parts {
		part = strings.TrimSpace(part)
		if n, err := strconv.Atoi(part); err == nil && len(q.Options) > 0 {
			if n < 1 || n > len(q.Options) {
				return nil, fmt.Sprintf("  there is no %d; the options are 1 to %d\n", n, len(q.Options))
			}
			part = q.Options[n-1].Label
		}
		if part != "" {
			list = append(list, part)
		}
	}
	return list, ""
}
