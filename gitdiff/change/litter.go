package change

import (
	"path"
	"strings"
)

// litterDirs are directories that tools fill and that nobody commits on purpose, with what makes them.
var litterDirs = map[string]string{
	"__pycache__": "Python", ".pytest_cache": "pytest", ".mypy_cache": "mypy", ".ruff_cache": "ruff", ".tox": "tox", ".nox": "nox", ".venv": "Python", "venv": "Python",
	".ipynb_checkpoints": "Jupyter", ".hypothesis": "Hypothesis", ".eggs": "Python", "node_modules": "npm", ".nyc_output": "nyc", ".parcel-cache": "Parcel", ".next": "Next.js",
	".gradle": "Gradle", ".bundle": "Bundler", ".terraform": "Terraform", ".cache": "a tool", ".npm": "npm", ".cargo-home": "Cargo", "__MACOSX": "macOS",
}

// litterFiles are such files, by name, and litterEnds by the end of the name.
var (
	litterFiles = map[string]string{".DS_Store": "macOS", "Thumbs.db": "Windows", ".coverage": "coverage.py", "npm-debug.log": "npm", "yarn-error.log": "yarn", ".eslintcache": "ESLint"}
	litterEnds  = map[string]string{".pyc": "Python", ".pyo": "Python", ".class": "Java", ".orig": "patch", ".rej": "patch", ".swp": "vim", ".tsbuildinfo": "TypeScript"}
)

// Litter lists where the added paths of a diff have names of what tools leave behind: each directory once, with a slash at
// its end, in the order of the diff, and how many files that is. What is left out is where the change also modifies or
// deletes something: the base has it, so it is wanted.
func (d *Diff) Litter() (places []string, files int) {
	wanted := map[string]bool{}
	for i := range d.Changes {
		if c := &d.Changes[i]; c.Type != Added {
			wanted[litterPlace(c.Name)] = true
		}
	}
	seen := map[string]bool{}
	for i := range d.Changes {
		c := &d.Changes[i]
		place := litterPlace(c.Name)
		if c.Type != Added || place == "" || wanted[place] {
			continue
		}
		files++
		if !seen[place] {
			seen[place] = true
			places = append(places, place)
		}
	}
	return places, files
}

// litterPlace is the outermost part of a path that is litter, "" when none is. A directory ends with a slash.
func litterPlace(name string) string {
	at := 0
	for {
		i := strings.IndexByte(name[at:], '/')
		if i < 0 {
			break
		}
		if litterDirs[name[at:at+i]] != "" {
			return name[:at+i+1]
		}
		at += i + 1
	}
	base := path.Base(name)
	if litterFiles[base] != "" || litterEnds[path.Ext(base)] != "" {
		return name
	}
	return ""
}
