package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestReaderStopsAtATornLineAndAtGarbage(t *testing.T) {
	t.Parallel()
	line := func(seq int) string {
		return fmt.Sprintf(`{"seq":%d,"time":"2026-05-04T11:00:00.123Z","run":"r","phase":"","kind":"raw","data":1}`+"\n", seq)
	}
	tests := []struct {
		name, text string
		events     int
		fails      bool
	}{
		{"torn", line(1) + line(2)[:20], 1, false},
		{"garbage", line(1) + "x\n" + line(2), 1, true},
		{"backwards", line(2) + line(1), 1, true},
		{"endless line", line(1) + strings.Repeat("x", maxLine+1), 1, true},
		{"empty", "", 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "e")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var n int
			var last error
			for _, err := range Events(t.Context(), path, 1, false) {
				if err != nil {
					last = err
				} else {
					n++
				}
			}
			if n != tt.events || (last != nil) != tt.fails {
				t.Errorf("%d events, error %v", n, last)
			}
		})
	}
}

func TestFollowersSeeEveryEventHoweverLateTheyCome(t *testing.T) {
	t.Parallel()
	j := newJournal(t, wide)
	appendAll(t, j, newEvent("raw", 1))
	var wg sync.WaitGroup
	follow := func(from int64, want int, events iter.Seq2[Event, error]) {
		wg.Go(func() {
			next := from
			for e, err := range events {
				if err != nil {
					t.Error(err)
				} else if e.Seq != next {
					t.Errorf("got %d, want %d", e.Seq, next)
				}
				next = e.Seq + 1
			}
			if got := int(next - from); got != want {
				t.Errorf("%d events from %d, want %d", got, from, want)
			}
		})
	}
	follow(1, 102, j.Events(t.Context(), 1))
	follow(50, 53, j.Events(t.Context(), 50))
	follow(1, 102, Events(t.Context(), j.file.Name(), 1, true))
	for i := range 100 {
		appendAll(t, j, newEvent("raw", i))
	}
	appendAll(t, j, newEvent(EventRunEnded, map[string]any{}))
	follow(1, 102, j.Events(t.Context(), 1))
	wg.Wait()
}

func TestAFollowerEndsWithItsContextAndWithTheJournal(t *testing.T) {
	t.Parallel()
	j := newJournal(t, wide)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	first := make(chan error, 2)
	for _, events := range []iter.Seq2[Event, error]{j.Events(ctx, 1), Events(ctx, j.file.Name(), 1, true)} {
		go func() {
			var last error
			for _, err := range events {
				last = err
			}
			first <- last
		}()
	}
	cancel(cause)
	for range 2 {
		if err := <-first; !errors.Is(err, cause) {
			t.Errorf("error %v, want the cause", err)
		}
	}
	appendAll(t, j, newEvent("raw", 1))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if events := collect(t, j.Events(t.Context(), 1)); len(events) != 1 {
		t.Errorf("events %+v", events)
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte(`{"seq":1,"time":"2026-05-04T11:00:00.123Z","run":"r","phase":"","kind":"raw","data":1}` + "\n{"))
	f.Add([]byte("{}\n\n\x00\n"))
	f.Add(bytes.Repeat([]byte(`{"seq":9,"kind":"x"}`+"\n"), 2))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "e")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		var seq int64
		for e, err := range Events(t.Context(), path, 1, false) {
			if err == nil && e.Seq <= seq {
				t.Fatalf("event %d after %d", e.Seq, seq)
			}
			seq = e.Seq
		}
		j, err := openJournal(path, "r", wide)
		if err != nil {
			t.Fatal(err)
		}
		appendAll(t, j, newEvent(EventRunEnded, map[string]any{}))
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		collect(t, Events(t.Context(), path, 1, false)) // whatever was there, it can be read again
	})
}
