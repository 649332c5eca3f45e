package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// library is a package that the page contains.
type library struct {
	Version string `json:"version"`
	License string `json:"license"`
	Dev     bool   `json:"dev"`
}

// lockedLibraries returns the libraries of the lock file that go into the page, by their directory, after a check that
// those are the ones that are installed.
func lockedLibraries(web string) (map[string]library, error) {
	var lock struct {
		Packages map[string]library `json:"packages"`
	}
	if err := readJSON(filepath.Join(web, "package-lock.json"), &lock); err != nil {
		return nil, err
	}
	delete(lock.Packages, "") // the page itself
	maps.DeleteFunc(lock.Packages, func(_ string, l library) bool { return l.Dev })
	for dir, locked := range lock.Packages {
		var installed library
		if err := readJSON(filepath.Join(web, filepath.FromSlash(dir), "package.json"), &installed); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoLibraries, err)
		}
		if installed.Version != locked.Version {
			return nil, fmt.Errorf("%w: %s is %s and should be %s", ErrNoLibraries, dir, installed.Version, locked.Version)
		}
	}
	return lock.Packages, nil
}

// licencesOf is the text of all licences of the libraries in the page.
func licencesOf(web string, libraries map[string]library) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("The page contains these libraries.\n")
	for _, dir := range slices.Sorted(maps.Keys(libraries)) {
		found, err := filepath.Glob(filepath.Join(web, filepath.FromSlash(dir), "LICEN[CS]E*"))
		if err != nil {
			return nil, err
		}
		l := libraries[dir]
		fmt.Fprintf(&out, "\n---- %s %s (%s)\n", strings.TrimPrefix(dir, "node_modules/"), l.Version, l.License)
		for _, name := range found {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			out.WriteByte('\n')
			out.Write(bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))))
			out.WriteByte('\n')
		}
	}
	return out.Bytes(), nil
}

func readJSON(name string, v any) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return nil
}
