package bundle

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"sandboxrun/web"
)

// What is embedded follows byte for byte from the sources.
func TestTheCommittedPageFollowsFromItsSources(t *testing.T) {
	t.Parallel()
	built, err := Build("..")
	if errors.Is(err, ErrNoLibraries) {
		t.Skipf("%v: run scripts/page-libraries", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	committed := Bytes{}
	err = fs.WalkDir(web.Files(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			committed[name], err = fs.ReadFile(web.Files(), name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := slices.Sorted(maps.Keys(committed)), slices.Sorted(maps.Keys(built)); !slices.Equal(got, want) {
		t.Fatalf("web/dist has %v, the sources give %v: run make page", got, want)
	}
	for name, content := range built {
		if !bytes.Equal(content, committed[name]) {
			t.Errorf("web/dist/%s is not what the sources give: run make page", name)
		}
	}
}

// The same without the libraries: the sources have not changed since the page was built.
func TestThePageWasBuiltAfterItsLastChange(t *testing.T) {
	t.Parallel()
	var m Manifest
	if err := readJSON("../dist/manifest.json", &m); err != nil {
		t.Fatal(err)
	}
	if sum, err := SourceSum(".."); err != nil || sum != m.Sources {
		t.Errorf("the sources of the page have changed since it was built (%v): run make page", err)
	}
}

// Nothing in the sources writes markup or code from text: the policy of the page would stop it in the browser, and
// whoever adds it should learn so earlier.
func TestTheSourcesMakeNoMarkupFromText(t *testing.T) {
	t.Parallel()
	err := fs.WalkDir(os.DirFS("../src"), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile("../src/" + name)
		for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "<script>", "<style", "srcdoc"} {
			if bytes.Contains(text, []byte(word)) {
				t.Errorf("%s uses %s", name, word)
			}
		}
		if lines := bytes.Count(text, []byte("\n")); lines > 400 {
			t.Errorf("%s has %d lines; 400 are allowed", name, lines)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestABuildSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := Build(dir); err == nil {
		t.Error("an empty directory gives a page")
	}
	lock := `{"packages":{"":{},"node_modules/preact":{"version":"1.0.0"},"node_modules/typescript":{"version":"5.0.0","dev":true}}}`
	if err := os.WriteFile(dir+"/package-lock.json", []byte(lock), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Build(dir); !errors.Is(err, ErrNoLibraries) || strings.Contains(err.Error(), "typescript") {
		t.Errorf("without the libraries: %v", err)
	}
	if err := os.MkdirAll(dir+"/node_modules/preact", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/node_modules/preact/package.json", []byte(`{"version":"2.0.0"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Build(dir); !errors.Is(err, ErrNoLibraries) || !strings.Contains(err.Error(), "is 2.0.0 and should be 1.0.0") {
		t.Errorf("with another version: %v", err)
	}
}
