package change

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitname"
)

// installScripts run when the dependencies of a checkout are installed (npm's scripts, "life cycle scripts").
var installScripts = []string{"preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare", "dependencies"}

// manifest is what of a package.json makes others run something.
type manifest struct {
	Scripts        map[string]string `json:"scripts"`
	PackageManager string            `json:"packageManager"`
}

// judgeScripts reports which scripts of a package.json are new or other than before.
func judgeScripts(was, now string) []gitdiff.Finding {
	var before, after manifest
	if err := json.Unmarshal([]byte(now), &after); err != nil {
		return []gitdiff.Finding{{Class: classScripts, Detail: "cannot be read as JSON: " + gitname.Clip(err.Error(), 100), Grade: gitdiff.Note}}
	}
	if err := json.Unmarshal([]byte(was), &before); err != nil {
		before = manifest{} // then everything in the new one is new
	}
	var onInstall, others []string
	for _, name := range slices.Sorted(maps.Keys(after.Scripts)) {
		switch old, had := before.Scripts[name]; {
		case had && old == after.Scripts[name]:
		case slices.Contains(installScripts, name):
			onInstall = append(onInstall, gitname.Clip(name, 60))
		default:
			others = append(others, gitname.Clip(name, 60))
		}
	}
	var out []gitdiff.Finding
	for _, s := range []struct {
		names []string
		what  string
	}{{onInstall, "on install runs "}, {others, "scripts differ: "}} {
		if len(s.names) > 0 {
			out = append(out, gitdiff.Finding{Class: classScripts, Detail: gitname.Clip(s.what+strings.Join(s.names, ", "), 300), Grade: gitdiff.Note})
		}
	}
	if after.PackageManager != before.PackageManager && after.PackageManager != "" {
		out = append(out, gitdiff.Finding{Class: classScripts, Detail: "names another package manager: " + gitname.Clip(after.PackageManager, 100), Grade: gitdiff.Note})
	}
	return out
}
