package document

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"sandboxrun/schemas/closed"
)

// storedBytes reads the documents of earlier versions and of this one that match a pattern, at least so many.
func storedBytes(t *testing.T, pattern string, least int) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("../../schemas/testdata/compat/*", pattern))
	if err != nil || len(paths) < least {
		t.Fatalf("%d stored documents %s, want at least %d (%v)", len(paths), pattern, least, err)
	}
	docs := map[string][]byte{}
	for _, path := range paths {
		if docs[path], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return docs
}

func TestStoredResultsStayValidAndReadable(t *testing.T) {
	t.Parallel()
	seen := map[Status]bool{}
	for path, doc := range storedBytes(t, "*/result.json", 7) {
		var res Result
		if err := json.Unmarshal(doc, &res); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		again, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{closed.ValidateOpen("result", doc), closed.Validate("result", again), closed.Kept(doc, again)} {
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		seen[res.Status] = true
	}
	for _, status := range []Status{StatusSuccess, StatusPartial, StatusFailed} {
		if !seen[status] {
			t.Errorf("no stored result has status %s", status)
		}
	}
}

func TestStoredErrorsStayValidAndReadable(t *testing.T) {
	t.Parallel()
	for path, doc := range storedBytes(t, "errors/*.json", 3) {
		var e errorDoc
		if err := json.Unmarshal(doc, &e); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		again, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{closed.ValidateOpen("error", doc), closed.Kept(doc, again)} {
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		if want := string(e.Error.Type) + ".json"; filepath.Base(path) != want {
			t.Errorf("%s has type %s", path, e.Error.Type)
		}
	}
}
