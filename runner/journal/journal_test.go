package journal

import (
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sandboxrun/schemas/closed"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 123_999_999, time.FixedZone("x", 3600))

func newJournal(t *testing.T, limits journalLimits) *Journal {
	t.Helper()
	j, err := openJournal(filepath.Join(t.TempDir(), "events.ndjson"), "run", limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

var wide = journalLimits{line: maxLine, total: maxJournal}

func newEvent(kind string, data any) Event {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	return Event{Time: noon, Phase: "agent", Kind: kind, Data: raw}
}

func appendAll(t *testing.T, j *Journal, events ...Event) {
	t.Helper()
	for _, e := range events {
		if _, err := j.Append(e); err != nil {
			t.Fatal(err)
		}
	}
}

func collect(t *testing.T, events iter.Seq2[Event, error]) []Event {
	t.Helper()
	var list []Event
	for e, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

func TestJournalLineIsTheContracts(t *testing.T) {
	t.Parallel()
	j := newJournal(t, wide)
	e, err := j.Append(newEvent("thinking", map[string]any{"text": "a\nb"}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(j.file.Name())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"seq":1,"time":"2026-05-04T11:00:00.123Z","run":"run","phase":"agent","kind":"thinking","data":{"text":"a\nb"}}` + "\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
	shown, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if string(shown)+"\n" != want {
		t.Errorf("the returned event shows as %s", shown)
	}
	if err := closed.Validate("event", shown); err != nil {
		t.Error(err)
	}
}

func TestJournalNumbersConcurrentEventsWithoutGaps(t *testing.T) {
	t.Parallel()
	j := newJournal(t, wide)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				if _, err := j.Append(newEvent("raw", map[string]int{"g": g, "i": i})); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	events := collect(t, Events(t.Context(), j.file.Name(), 1, false))
	if len(events) != 400 {
		t.Fatalf("%d events, want 400", len(events))
	}
	for i, e := range events {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d has number %d", i+1, e.Seq)
		}
	}
}

func TestJournalReplacesWhatIsTooLargeForALine(t *testing.T) {
	t.Parallel()
	for _, size := range []int{5000, 500_000} {
		j := newJournal(t, journalLimits{line: 4096, total: maxJournal})
		big := map[string]any{"id": "call-1", "status": "ok", "text": strings.Repeat("é", size)}
		e, err := j.Append(newEvent("tool_result", big))
		if err != nil {
			t.Fatal(err)
		}
		appendAll(t, j, newEvent("thinking", map[string]any{}))
		var mark struct {
			Kind  string `json:"kind"`
			ID    string `json:"id"`
			Head  string `json:"head"`
			Bytes int64  `json:"bytes"`
		}
		if err := json.Unmarshal(e.Data, &mark); err != nil {
			t.Fatal(err)
		}
		if e.Kind != EventTruncated || mark.Kind != "tool_result" || mark.ID != "call-1" || mark.Bytes < int64(size) || mark.Head == "" {
			t.Errorf("kind %s, mark %+v", e.Kind, mark)
		}
		events := collect(t, Events(t.Context(), j.file.Name(), 1, false))
		if len(events) != 2 || events[1].Seq != 2 {
			t.Errorf("events %+v", events)
		}
		for _, e := range events {
			raw, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			if err := closed.Validate("event", raw); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestAFullJournalStillTellsTheCourse(t *testing.T) {
	t.Parallel()
	j := newJournal(t, journalLimits{line: 1000, total: 2000})
	for range 100 {
		appendAll(t, j, newEvent("raw", strings.Repeat("x", 200)))
	}
	appendAll(t, j, newEvent(EventPhaseEnded, map[string]int{"duration_ms": 1}), newEvent("raw", "more"), newEvent(EventRunEnded, map[string]any{}))
	events := collect(t, Events(t.Context(), j.file.Name(), 1, true))
	var kinds []string
	for i, e := range events {
		if e.Seq != int64(i+1) {
			t.Errorf("event %d has number %d", i+1, e.Seq)
		}
		if e.Kind != "raw" {
			kinds = append(kinds, e.Kind)
		}
	}
	if diff := cmp.Diff([]string{EventTruncated, EventPhaseEnded, EventRunEnded}, kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	if size, _, _ := j.state(); size > 4000 {
		t.Errorf("journal of %d bytes", size)
	}
}

func TestJournalRefusesDataThatIsNotJSON(t *testing.T) {
	t.Parallel()
	j := newJournal(t, wide)
	if _, err := j.Append(Event{Time: noon, Kind: "raw", Data: []byte("{")}); err == nil {
		t.Error("no error")
	}
	appendAll(t, j, newEvent("raw", 1))
	if events := collect(t, Events(t.Context(), j.file.Name(), 1, false)); len(events) != 1 || events[0].Seq != 1 {
		t.Errorf("events %+v", events)
	}
}

func TestAReopenedJournalGoesOnAfterTheLastCompleteLine(t *testing.T) {
	t.Parallel()
	for _, torn := range []string{"", `{"seq":3,"ti`, "\x00\x00\x00\x00", "garbage\nmore", "{}\n"} {
		path := filepath.Join(t.TempDir(), "events.ndjson")
		j, err := openJournal(path, "run", wide)
		if err != nil {
			t.Fatal(err)
		}
		appendAll(t, j, newEvent("raw", 1), newEvent("raw", 2))
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(torn); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if j, err = openJournal(path, "run", wide); err != nil {
			t.Fatal(err)
		}
		appendAll(t, j, newEvent(EventRunEnded, map[string]any{}))
		if err := errors.Join(j.Close(), j.Close()); err != nil {
			t.Fatal(err)
		}
		events := collect(t, Events(t.Context(), path, 1, true))
		if len(events) != 3 || events[2].Seq != 3 {
			t.Errorf("after %q: events %+v", torn, events)
		}
	}
}

func TestAppendAfterCloseFails(t *testing.T) {
	t.Parallel()
	j := newJournal(t, wide)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append(newEvent("raw", 1)); !errors.Is(err, errJournalClosed) {
		t.Errorf("Append: %v", err)
	}
	if err := j.Sync(); !errors.Is(err, errJournalClosed) {
		t.Errorf("Sync: %v", err)
	}
}
