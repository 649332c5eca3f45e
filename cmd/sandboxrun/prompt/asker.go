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
	line, err := t.in.ask(ctx, t.out, "  allow? y, n, or the reason why not (until "+until+"): ")
	if err != nil {
		t.showTimeout(ctx)
		return approval.Answer{}, false
	}
	switch answer := strings.TrimSpace(line); strings.ToLower(answer) {
	case "y", "yes":
		return approval.Answer{Allow: true, By: "terminal"}, true
	case "", "n", "no":
		return approval.Answer{Reason: "denied by the user", By: "terminal"}, true
	default:
		return approval.Answer{Reason: "denied by the user: " + answer, By: "terminal"}, true
	}
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
		line, err := t.in.ask(ctx, t.out, hint)
		if err != nil {
			t.showTimeout(ctx)
			return approval.Answer{}, false
		}
		chosen := choose(q, strings.TrimSpace(line))
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

// choose reads an answer: numbers of options where there are any, words else.
func choose(q agents.Question, line string) []string {
	if line == "" {
		return nil
	}
	parts := []string{line}
	if q.Multiple {
		parts = strings.Split(line, ",")
	}
	var list []string
	for _, part := range parts {
		part = strings.TrimSpace(part)
		if n, err := strconv.Atoi(part); err == nil && n >= 1 && n <= len(q.Options) {
			part = q.Options[n-1].Label
		}
		if part != "" {
			list = append(list, part)
		}
	}
	return list
}
