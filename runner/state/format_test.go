package state

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sandboxrun/runner/document"
)

func TestStateDirectoryHasAFormat(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"new": "", "older than the marker": "", "current": "1\n"} {
		dir := filepath.Join(t.TempDir(), "state")
		if name != "new" {
			if err := os.MkdirAll(filepath.Join(dir, "runs"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if text != "" {
			writeFile(t, filepath.Join(dir, "format"), text, 0o600)
		}
		var wg sync.WaitGroup
		for range 8 { // the first upgrades it
			wg.Go(func() {
				if _, err := Open(dir); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		wg.Wait()
		if got, err := os.ReadFile(filepath.Join(dir, "format")); string(got) != "1\n" {
			t.Errorf("%s: format %q, %v", name, got, err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".format*")); len(left) > 0 {
			t.Errorf("%s: left %v", name, left)
		}
	}
}

func TestStateDirectoryOfALaterVersionIsUnchanged(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"2\n": "has format 2", "1000000": "has format 1000000", "": "damaged", "0": "damaged", "one": "damaged"} {
		dir := filepath.Join(t.TempDir(), "state")
		path := writeFile(t, filepath.Join(dir, "format"), text, 0o600)
		_, err := Open(dir)
		bad, ok := errors.AsType[*document.InputError](err)
		if !ok || !strings.Contains(bad.Message, want) || bad.Hint == "" || document.ErrorExitCode(err) != document.ExitInput {
			t.Errorf("%q: %v", text, err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 {
			t.Errorf("%q: the directory has %v, %v", text, entries, err)
		}
		if got, err := os.ReadFile(path); string(got) != text {
			t.Errorf("%q became %q, %v", text, got, err)
		}
	}
}

func writeFile(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}
