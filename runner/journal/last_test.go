package journal

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLastReadsTheLastCompleteEvent(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events.ndjson")
	if _, _, err := Last(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no journal: %v", err)
	}
	j, err := Open(path, "run")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := Last(path); ok || err != nil {
		t.Errorf("an empty journal: %v, %v", ok, err)
	}
	for _, size := range []int{1, firstLook, 100_000, maxLine - 1000, 1} {
		data, err := json.Marshal(SystemMessage{Text: strings.Repeat("x", size)})
		if err != nil {
			t.Fatal(err)
		}
		want, err := j.Append(Event{Time: time.Now(), Phase: "agent", Kind: EventSystemMessage, Data: data})
		if err != nil {
			t.Fatal(err)
		}
		if got, ok, err := Last(path); !ok || err != nil || got.Seq != want.Seq || got.Phase != "agent" {
			t.Errorf("%d bytes: event %d, %v, %v; want %d", size, got.Seq, ok, err, want.Seq)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		before, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(strings.Repeat("torn", 10_000)); err != nil {
			t.Fatal(err)
		}
		if got, ok, err := Last(path); !ok || err != nil || got.Seq != want.Seq {
			t.Errorf("%d bytes and a torn line: event %d, %v, %v; want %d", size, got.Seq, ok, err, want.Seq)
		}
		if err := errors.Join(f.Truncate(before.Size()), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}
