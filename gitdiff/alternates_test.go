package gitdiff

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestObjectDirsFollowsAlternatesOnceEach(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"one":     "# a comment\n\n../two\n\"" + dir + "/od\\144\"\nmissing\n",
		"two":     dir + "/one\n../three\n",
		"three":   "",
		"odd":     "../three\n",
		"unnamed": "../one\n",
	} {
		info := filepath.Join(dir, name, "info")
		if err := os.MkdirAll(info, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(info, "alternates"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := objectDirs(filepath.Join(dir, "one"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"one", "two", "three", "odd"}
	for i := range want {
		want[i] = filepath.Join(dir, want[i])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestStorePathIsReadBackFromAlternates(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/plain", "/with space", "/quote\"d", "\"/begins", "/new\nline", "#/begins", "/tab\tand\\back"} {
		if got := alternatePath(quotePath(path)); got != path {
			t.Errorf("%q: got %q from %q", path, got, quotePath(path))
		}
	}
}
