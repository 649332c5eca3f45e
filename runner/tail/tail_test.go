package tail

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sandboxrun/runner/journal"
)

func appendEvent(t *testing.T, j *journal.Journal, kind string, size int) {
	t.Helper()
	data, err := json.Marshal(map[string]string{"text": strings.Repeat("x", size), "kind": `","kind":"run_ended`})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append(journal.Event{Time: time.Now(), Phase: "agent", Kind: kind, Data: data}); err != nil {
		t.Fatal(err)
	}
}

func alive() (bool, error) { return true, nil }

// collect reads a journal to its end and returns the bytes it was given, whole lines.
func collect(ctx context.Context, tail *Tail, from int64) ([]byte, error) {
	var got bytes.Buffer
	err := tail.Read(ctx, from, time.Minute, func(p Piece) error {
		if p.CaughtUp {
			return nil
		}
		got.Write(p.Data)
		if p.End {
			got.WriteByte('\n')
		}
		return nil
	})
	return got.Bytes(), err
}

func TestReadersGetEveryByteOnceWhileTheJournalGrows(t *testing.T) {
	t.Parallel()
	for _, polls := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "events.ndjson")
		s := NewSet()
		if polls && s.watch != nil {
			if err := s.watch.close(); err != nil {
				t.Fatal(err)
			}
			s.watch = nil
		}
		// Readers come before the journal is there, and while it grows.
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		type outcome struct {
			from int64
			got  []byte
			err  error
		}
		const readers = 40
		results := make(chan outcome, readers)
		var wg sync.WaitGroup
		for i := range readers {
			wg.Go(func() {
				tail, release, err := s.Open(ctx, Source{Path: path, Live: alive})
				if err != nil {
					t.Error(err)
					return
				}
				defer release()
				from := int64(1 + i*i%700)
				got, err := collect(ctx, tail, from)
				results <- outcome{from, got, err}
			})
		}
		j, err := journal.Open(path, "run")
		if err != nil {
			t.Fatal(err)
		}
		for i := range 900 {
			size := rand.IntN(300)
			if i%100 == 7 {
				size = pieceSize * (1 + i/300)
			}
			if i == 500 {
				size = 900 << 10
			}
			appendEvent(t, j, "assistant_message", size)
		}
		appendEvent(t, j, LastEvent, 1)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		close(results)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.SplitAfter(whole, []byte("\n"))
		for o := range results {
			if want := bytes.Join(lines[o.from-1:], nil); o.err != nil || !bytes.Equal(o.got, want) {
				t.Errorf("polls %v, from %d: %d bytes, %v; want %d", polls, o.from, len(o.got), o.err, len(want))
			}
		}
		if s.mu.Lock(); len(s.followers) != 0 {
			t.Errorf("%d followers are left", len(s.followers))
		}
		s.mu.Unlock()
		cancel()
		if polls {
			s.watch = nil
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestTornAndRewrittenLinesAreNotShown(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events.ndjson")
	line := func(seq int, kind string) string {
		return fmt.Sprintf(`{"seq":%d,"time":"2026-01-01T00:00:00.000Z","run":"r","phase":"agent","kind":"%s","data":{}}`, seq, kind) + "\n"
	}
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tail := newTail(path)
	defer func() { _ = tail.close() }()
	write(line(1, "a") + line(2, "b")[:20])
	tail.scan()
	if seq, _ := tail.Last(); seq != 1 {
		t.Errorf("a torn line counts: %d", seq)
	}
	write(line(1, "a") + "garbage\n" + line(2, "b"))
	if tail.scan(); tail.seq != 1 {
		t.Errorf("garbage was passed over: %d", tail.seq)
	}
	write(line(1, "a") + line(2, "c") + line(3, LastEvent))
	tail.scan()
	got, err := collect(t.Context(), tail, 1)
	if err != nil || string(got) != line(1, "a")+line(2, "c")+line(3, LastEvent) {
		t.Errorf("%v: %s", err, got)
	}
}

func TestPagesHoldTheAskedEvents(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events.ndjson")
	j, err := journal.Open(path, "run")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2000 {
		kind := "assistant_message"
		if i%10 == 0 {
			kind = "tool_call"
		}
		appendEvent(t, j, kind, 10)
	}
	tail, done, err := Snapshot(path)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	calls := func(kind string, _ []byte) bool { return kind == "tool_call" }
	for name, c := range map[string]struct {
		q    Query
		want []int64 // first, last, count
	}{
		"beginning":    {Query{Limit: 5}, []int64{1, 5, 5}},
		"middle":       {Query{From: 700, Limit: 300}, []int64{700, 999, 300}},
		"end":          {Query{From: 1999, Limit: 50}, []int64{1999, 2000, 2}},
		"beyond":       {Query{From: 2001, Limit: 50}, []int64{0, 0, 0}},
		"newest":       {Query{Before: 1 << 60, Limit: 3}, []int64{1998, 2000, 3}},
		"before":       {Query{Before: 1000, Limit: 600}, []int64{400, 999, 600}},
		"before all":   {Query{Before: 1, Limit: 3}, []int64{0, 0, 0}},
		"kinds":        {Query{From: 2, Limit: 3, Match: calls}, []int64{11, 31, 3}},
		"kinds before": {Query{Before: 2001, Limit: 100, Match: calls}, []int64{1001, 1991, 100}},
	} {
		lines, err := tail.Page(t.Context(), c.q)
		if err != nil {
			t.Fatal(err)
		}
		var first, last int64
		for i, l := range lines {
			seq, _, _ := head(l)
			if i == 0 {
				first = seq
			}
			if seq <= last {
				t.Errorf("%s: %d follows %d", name, seq, last)
			}
			last = seq
		}
		if first != c.want[0] || last != c.want[1] || int64(len(lines)) != c.want[2] {
			t.Errorf("%s: %d to %d, %d events; want %v", name, first, last, len(lines), c.want)
		}
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

func TestReadingEndsWithItsContextAndWithTheSet(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events.ndjson")
	j, err := journal.Open(path, "run")
	if err != nil {
		t.Fatal(err)
	}
	appendEvent(t, j, "assistant_message", 1)
	s := NewSet()
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	tail, release, err := s.Open(ctx, Source{Path: path, Live: alive})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	caught := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- tail.Read(ctx, 1, time.Minute, func(p Piece) error {
			if last, _ := tail.Last(); p.CaughtUp && last == 1 {
				close(caught)
			}
			return nil
		})
	}()
	<-caught
	cancel(cause)
	if err := <-ended; !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
	go func() { ended <- tail.Read(t.Context(), 1, time.Minute, func(Piece) error { return nil }) }()
	if err := errors.Join(s.Close(), j.Close()); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("%v", err)
	}
	if _, _, err := s.Open(t.Context(), Source{Path: path, Live: alive}); !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
}

func BenchmarkReplay(b *testing.B) {
	path := filepath.Join(b.TempDir(), "events.ndjson")
	var text bytes.Buffer
	for i := range 100_000 {
		fmt.Fprintf(&text, `{"seq":%d,"time":"2026-01-01T00:00:00.000Z","run":"r","phase":"agent","kind":"assistant_message","data":{"text":"%s"}}`+"\n", i+1, strings.Repeat("x", 200))
	}
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		tail, done, err := Snapshot(path)
		if err != nil {
			b.Fatal(err)
		}
		if err := tail.Read(b.Context(), 1, time.Minute, func(Piece) error { return nil }); err != nil {
			b.Fatal(err)
		}
		done()
	}
}
