package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandboxrun/runner/state"
	"sandboxrun/sandbox"
)

func TestRoomTakenCountsWhatGrowsAndFollowsNothing(t *testing.T) {
	t.Parallel()
	st, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	x := &Examination{State: st, Open: func() (Engine, error) {
		return fakeEngine{info: goodInfo(), image: sandbox.ImageInfo{ID: "sha256:1", Bytes: 12e9}}, nil
	}}
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, make([]byte, 40<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		dir := filepath.Join(st.Dir(), "runs", fmt.Sprint(n))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "log"), make([]byte, 2<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(large, filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
	}
	f := checkSizes(t.Context(), x)
	if f.Level != LevelPass || !strings.Contains(f.Message, "3 runs 6 MB") || !strings.Contains(f.Message, "1 images up to 12 GB") {
		t.Errorf("%+v", f)
	}
	// Counting has a bound, in files and in time.
	c := counter{left: 2}
	if entries, _, all := c.room(t.Context(), filepath.Join(st.Dir(), "runs")); entries != 3 || all {
		t.Errorf("%d entries, all %v", entries, all)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	c = counter{left: maxCounted}
	if _, _, all := c.room(ended, filepath.Join(st.Dir(), "runs")); all {
		t.Error("counting went on after its time")
	}
}
