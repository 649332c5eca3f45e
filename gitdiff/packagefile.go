package gitdiff

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// installScripts run when somebody installs the dependencies of a checkout (npm's scripts, "life cycle scripts").
var installScripts = []string{"preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare", "dependencies"}

// manifest is what of a package.json makes others run something.
type manifest struct {
	Scripts        map[string]string `json:"scripts"`
	PackageManager string            `json:"packageManager"`
}

// judgeScripts says which scripts of a package.json are new or other than before.
func judgeScripts(was, now string) []Finding {
	var before, after manifest
	if err := json.Unmarshal([]byte(now), &after); err != nil {
		return []Finding{{Class: classScripts, Detail: "cannot be read as JSON: " + clip(err.Error(), 100), Grade: Note}}
	}
	if err := json.Unmarshal([]byte(was), &before); err != nil {
		before = manifest{} // then everything in the new one is new
	}
	var onInstall, others []string
	for _, name := range slices.Sorted(maps.Keys(after.Scripts)) {
		switch old, had := before.Scripts[name]; {
		case had && old == after.Scripts[name]:
		case slices.Contains(installScripts, name):
			onInstall = append(onInstall, clip(name, 60))
		default:
			others = append(others, clip(name, 60))
		}
	}
	var out []Finding
	for _, s := range []struct {
		names []string
		what  string
	}{{onInstall, "on install runs "}, {others, "scripts differ: "}} {
		if len(s.names) > 0 {
			out = append(out, Finding{Class: classScripts, Detail: clip(s.what+strings.Join(s.names, ", "), 300), Grade: Note})
		}
	}
	if after.PackageManager != before.PackageManager && after.PackageManager != "" {
		out = append(out, Finding{Class: classScripts, Detail: "names another package manager: " + clip(after.PackageManager, 100), Grade: Note})
	}
	return out
}
