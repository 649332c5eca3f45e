package prompt

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"sandboxrun/cmd/sandboxrun/render"
	"sandboxrun/runner/approval"
)

// typist answers at the moment the question is on the screen.
type typist struct {
	t      *testing.T
	tty    io.Writer
	answer string
}

func (w *typist) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "allow? y") {
		if _, err := io.WriteString(w.tty, w.answer); err != nil {
			w.t.Error(err)
		}
	}
	return len(p), nil
}

func TestAnAnswerCountsAsSoonAsTheQuestionIsShownAndNotBefore(t *testing.T) {
	t.Parallel()
	ours, theirs, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo-terminal here: %v", err)
	}
	defer ours.Close()
	in, err := newLineInput(theirs)
	if err != nil {
		t.Fatal(err)
	}
	defer in.close()
	if _, err := io.WriteString(ours, "typed ahead\n"); err != nil {
		t.Fatal(err)
	}
	a := &terminalAsker{out: &typist{t: t, tty: ours, answer: "y\n"}, term: render.Terminal{}, mu: &sync.Mutex{}, in: in}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	answer, ok := a.Ask(ctx, approval.Pending{Tool: "Write"})
	if !ok || !answer.Allow {
		t.Errorf("answered %+v, %t: want the one given after the question", answer, ok)
	}
}
