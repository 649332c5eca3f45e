package change

import "testing"

func TestLitterIsNamedByItsOutermostDirectory(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"src/__pycache__/a.pyc": "src/__pycache__/", "node_modules/a/node_modules/b/x.js": "node_modules/", "a/.DS_Store": "a/.DS_Store", "x.pyc": "x.pyc",
		"src/main.py": "", "venv": "", "docs/venv.md": "", ".gitignore": "", "node_modules": "", "a/b/": "",
	} {
		if got := litterPlace(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
