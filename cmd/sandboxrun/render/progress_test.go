package render

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"sandboxrun/runner/journal"
)

// blockedWriter blocks until released.
type blockedWriter struct{ release chan struct{} }

func (w blockedWriter) Write(p []byte) (int, error) {
	<-w.release
	return len(p), nil
}

func TestProgressNeverDelaysARun(t *testing.T) {
	t.Parallel()
	w := blockedWriter{release: make(chan struct{})}
	p := ShowProgress(w, Terminal{width: 80}, new(sync.Mutex))
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 3 * progressQueue {
			p.Event(event(t, "agent", journal.EventSystemMessage, map[string]string{"text": "x"}))
		}
		p.Close()
	})
	wg.Wait() // would never return if event or close waited for the writer
	close(w.release)
	<-p.done
	if p.skipped.Load() == 0 {
		t.Error("nothing was counted as skipped")
	}
}

func TestProgressOfAPipeIsPlainLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := ShowProgress(&out, Terminal{width: 80}, new(sync.Mutex))
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i, e := range []journal.Event{
		event(t, "", journal.EventRunStarted, map[string]any{"objective": "say hello"}),
		event(t, "agent", journal.EventPhaseStarted, map[string]any{}),
		event(t, "agent", journal.EventPhaseEnded, map[string]any{"duration_ms": 2000}),
	} {
		e.Time = began.Add(time.Duration(i) * time.Second)
		p.Event(e)
	}
	p.Close()
	want := "    0.0s            run R1 say hello\n    2.0s  agent     done in 2.0 s\n"
	if out.String() != want {
		t.Errorf("got\n%q\nwant\n%q", out.String(), want)
	}
}

func TestProgressOfATerminalKeepsToItsWidth(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := ShowProgress(&out, Terminal{IsTTY: true, width: 40}, new(sync.Mutex))
	p.Event(event(t, "agent", journal.EventPhaseStarted, map[string]any{}))
	p.Event(event(t, "agent", journal.EventSystemMessage, map[string]any{"text": strings.Repeat("wide ", 100)}))
	p.Close()
	for line := range strings.FieldsFuncSeq(out.String(), func(r rune) bool { return r == '\n' || r == '\r' }) {
		if n := len([]rune(strings.ReplaceAll(line, "\x1b[K", ""))); n >= 40 {
			t.Errorf("line of %d columns: %q", n, line)
		}
	}
}
