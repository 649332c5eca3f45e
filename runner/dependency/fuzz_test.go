package dependency

import (
	"strings"
	"testing"
	"time"
)

func FuzzRead(f *testing.F) {
	for name, text := range map[string]string{"package.json": `{"dependencies":{"a":"1"}}`, "go.mod": "module m\n\nrequire a.b/c v1.0.0\n", "Cargo.toml": "[dependencies]\na = \"1\"\n",
		"pyproject.toml": "[project]\ndependencies = [\"a>=1\"]\n", "requirements.txt": "a==1 \\\n --hash=x\n", "Cargo.lock": "[[package]]\nname = \"a\"\n", "a.js": "import x from 'y'", "a.py": "import x, y.z as q"} {
		f.Add(name, []byte(text))
	}
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		began := time.Now()
		d, err := Read(name, text)
		if err == nil && len(d) > maxEntries {
			t.Errorf("%d entries", len(d))
		}
		_, _ = ReadLock(name, text)
		_, _ = FormOf(name), Imports(LanguageOf(name), text)
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("%d bytes took %s", len(text), took)
		}
	})
}

func TestLargeManifestsAreBounded(t *testing.T) {
	t.Parallel()
	if _, err := Read("package.json", []byte(strings.Repeat(" ", maxBytes+1))); err == nil {
		t.Error("a manifest of more than the bound was read")
	}
	for name, text := range map[string]string{"package.json": strings.Repeat(`{"a":`, 1e5), "Cargo.toml": "a = " + strings.Repeat("[", 1e5), "requirements.txt": strings.Repeat("a==1 \\\n", 1e5),
		"Pipfile": "packages." + strings.Repeat("a.", 4e5) + "a = 1"} {
		began := time.Now()
		_, _ = Read(name, []byte(text))
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s took %s", name, took)
		}
	}
}
