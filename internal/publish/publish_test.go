package publish

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestTheFirstWriterGetsTheName(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(string, []byte) error{"unnamed": File, "named": linkNamed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "name")
			var won, lost atomic.Int32
			var group sync.WaitGroup
			for i := range 16 {
				group.Go(func() {
					err := write(path, []byte(strings.Repeat(strconv.Itoa(i%10), 10_000)))
					switch {
					case err == nil:
						won.Add(1)
					case errors.Is(err, fs.ErrExist):
						lost.Add(1)
					default:
						t.Error(err)
					}
				})
			}
			group.Wait()
			body, err := os.ReadFile(path)
			if err != nil || len(body) != 10_000 || bytes.Count(body, body[:1]) != 10_000 || won.Load() != 1 || lost.Load() != 15 {
				t.Errorf("%d won, %d lost, %d bytes, %v", won.Load(), lost.Load(), len(body), err)
			}
			entries, err := os.ReadDir(dir)
			if err != nil || len(entries) != 1 {
				t.Errorf("left: %v, %v", entries, err)
			}
			if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
				t.Errorf("mode %v, %v", fi.Mode(), err)
			}
		})
	}
}

func TestADirectoryThatIsGoneIsAnError(t *testing.T) {
	t.Parallel()
	if err := File(filepath.Join(t.TempDir(), "gone", "name"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
