package journal

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// written is a journal of five events, reopened after the second as by another process, and its head.
func written(t *testing.T) (string, Head) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "events.ndjson")
	var head Head
	for _, kinds := range [][]string{{EventRunStarted, EventPhaseStarted}, {EventSystemMessage, EventPhaseEnded, EventRunEnded}} {
		j, err := openJournal(path, "run", wide)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range kinds {
			appendAll(t, j, newEvent(kind, map[string]string{"text": kind}))
		}
		head = j.Head()
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		torn, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := torn.WriteString(`{"seq":9,"torn`); err != nil {
			t.Fatal(err)
		}
		if err := torn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	j, err := openJournal(path, "run", wide) // cuts off the torn line
	if err != nil {
		t.Fatal(err)
	}
	if got := j.Head(); got != head {
		t.Fatalf("head %+v after opening again, was %+v", got, head)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return path, head
}

func TestAJournalAsWrittenIsVerified(t *testing.T) {
	t.Parallel()
	path, head := written(t)
	got, err := Verify(t.Context(), path, head)
	if err != nil || got != head || head.Seq != 5 || len(head.SHA256) != 64 {
		t.Errorf("head %+v, want %+v: %v", got, head, err)
	}
}

func TestAChangedJournalIsBroken(t *testing.T) {
	t.Parallel()
	lines := func(text []byte) [][]byte { return bytes.SplitAfter(text, []byte("\n")) }
	for name, change := range map[string]func([]byte) []byte{
		"a word": func(b []byte) []byte { return bytes.Replace(b, []byte("phase_ended"), []byte("phase_Ended"), 1) },
		"a word of the end": func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"text":"run_ended"`), []byte(`"text":"run_Ended"`), 1)
		},
		"white space":       func(b []byte) []byte { return bytes.Replace(b, []byte(`"seq":3,`), []byte(`"seq": 3,`), 1) },
		"the first line":    func(b []byte) []byte { return bytes.Join(lines(b)[1:], nil) },
		"a line":            func(b []byte) []byte { l := lines(b); return bytes.Join(append(l[:2:2], l[3:]...), nil) },
		"the last line":     func(b []byte) []byte { l := lines(b); return bytes.Join(l[:4], nil) },
		"the end of a line": func(b []byte) []byte { return b[:len(b)-5] },
		"a line twice":      func(b []byte) []byte { l := lines(b); return bytes.Join(append(l[:5:5], l[4]), nil) },
		"a line more": func(b []byte) []byte {
			return append(b, bytes.Replace(lines(b)[4], []byte(`"seq":5`), []byte(`"seq":6`), 1)...)
		},
		"bytes after it": func(b []byte) []byte { return append(b, "{}"...) },
		"everything":     func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, head := written(t)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			changed := change(bytes.Clone(text))
			if bytes.Equal(text, changed) {
				t.Fatal("nothing was changed")
			}
			if err := os.WriteFile(path, changed, 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := Verify(t.Context(), path, head); !errors.Is(err, ErrBroken) {
				t.Errorf("head %+v, error %v", got, err)
			}
		})
	}
}

func TestVerificationHearsTheContext(t *testing.T) {
	t.Parallel()
	path, head := written(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Verify(ctx, path, head); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
