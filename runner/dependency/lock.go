package dependency

import (
	"fmt"
	"path"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/pelletier/go-toml/v2"
)

// ReadLock reads what a lock file pins: version, source and checksum of each package, by name. Errors wrap [ErrUnread], or are about
// what cannot be understood.
func ReadLock(name string, content []byte) (Declared, error) {
	if len(content) > 16*maxBytes {
		return nil, fmt.Errorf("%w: larger than %d bytes", ErrUnread, 16*maxBytes)
	}
	switch path.Base(name) {
	case "package-lock.json", "npm-shrinkwrap.json":
		return readPackageLock(content)
	case "go.sum":
		d := Declared{}
		for line := range strings.Lines(string(content)) {
			if f := strings.Fields(line); len(f) == 3 {
				d.put(f[0]+" "+f[1], f[2])
			}
		}
		return d, nil
	case "Cargo.lock", "poetry.lock", "uv.lock", "pdm.lock":
		return readTOMLLock(content)
	}
	return nil, ErrUnread
}

func readPackageLock(content []byte) (Declared, error) {
	var lock struct {
		Packages map[string]struct {
			Version   string `json:"version"`
			Resolved  string `json:"resolved"`
			Integrity string `json:"integrity"`
		} `json:"packages"`
	}
	if err := jsonv2.Unmarshal(content, &lock); err != nil {
		return nil, err
	}
	if lock.Packages == nil {
		return nil, fmt.Errorf("%w: a lock file of an old version", ErrUnread)
	}
	d := Declared{}
	for name, p := range lock.Packages {
		if name != "" { // the project itself
			d.put(name, p.Version+" "+p.Resolved+" "+p.Integrity)
		}
	}
	return d, nil
}

func readTOMLLock(content []byte) (Declared, error) {
	var lock struct {
		Package []map[string]any `toml:"package"`
	}
	if err := toml.Unmarshal(content, &lock); err != nil {
		return nil, err
	}
	d := Declared{}
	for _, p := range lock.Package {
		var parts []string
		for _, of := range []string{"source", "checksum", "files", "wheels", "sdist"} {
			text, err := written(p[of], maxDepth)
			if err != nil {
				return nil, err
			}
			parts = append(parts, text)
		}
		name, _ := p["name"].(string)
		version, _ := p["version"].(string)
		d.put(name+" "+version, strings.Join(parts, " "))
	}
	return d, nil
}
