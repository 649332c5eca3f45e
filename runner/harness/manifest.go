package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"sandboxrun/gitdiff/change"
)

// maxManifest bounds a manifest that is compared by its members, in bytes. A larger one is compared as a whole.
const maxManifest = 1 << 20

// harmless says that a changed manifest still means the same for everything that was there before: it only gained scripts,
// dependencies, or words about the project. asked has the words of the commands: a new script that they name is not harmless. What
// cannot be read, is not either.
func harmless(ctx context.Context, c *change.Change, read Reader, asked map[string]bool) bool {
	base := path.Base(c.Name)
	if lockFiles[base] { // set-up reads it, and says so; the manifest beside it says what was meant
		return c.Type == change.Modified
	}
	if base != "package.json" && base != "go.mod" || c.Type != change.Modified {
		return false
	}
	was, err := read(ctx, false, c.Name)
	if err != nil || len(was) > maxManifest {
		return false
	}
	now, err := read(ctx, true, c.Name)
	if err != nil || len(now) > maxManifest {
		return false
	}
	if base == "go.mod" {
		return moduleGrows(was, now)
	}
	return packageGrows(was, now, asked)
}

var lockFiles = set("go.sum", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "poetry.lock", "uv.lock", "Cargo.lock", "Gemfile.lock", "composer.lock")

// about are members of a package.json that tell people of the project and decide nothing.
var about = set("version", "description", "keywords", "author", "contributors", "license", "repository", "homepage", "bugs", "funding", "files", "private", "publishConfig")

// growing are members that may gain entries. The bool says that entries may not run by themselves: npm runs scripts of some names
// around others.
var growing = map[string]bool{"scripts": true, "dependencies": false, "devDependencies": false, "optionalDependencies": false, "peerDependencies": false}

func packageGrows(was, now []byte, asked map[string]bool) bool {
	before, ok := members(was)
	after, ok2 := members(now)
	if !ok || !ok2 {
		return false
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(before)), slices.Collect(maps.Keys(after))) {
		b, a := before[name], after[name]
		if about[name] || bytes.Equal(b, a) {
			continue
		}
		hooks, may := growing[name]
		if !may || !objectGrows(b, a, hooks, asked) {
			return false
		}
	}
	return true
}

func objectGrows(was, now json.RawMessage, hooks bool, asked map[string]bool) bool {
	before, ok := members(was)
	after, ok2 := members(now)
	if !ok && was != nil || !ok2 {
		return false
	}
	for name, b := range before {
		if !bytes.Equal(b, after[name]) {
			return false
		}
	}
	for name := range after {
		if _, old := before[name]; !old && hooks && (asked[name] || runsByItself(name, before)) {
			return false
		}
	}
	return true
}

// lifecycle are scripts that npm runs without being asked for them by name.
var lifecycle = set("preinstall", "install", "postinstall", "prepare", "prepublish", "preprepare", "postprepare", "prepack", "postpack", "dependencies", "restart", "start", "stop", "test")

// runsByItself says that a new script runs although no command that worked before names it.
func runsByItself(name string, before map[string]json.RawMessage) bool {
	for _, around := range []string{"pre", "post"} {
		if of, ok := strings.CutPrefix(name, around); ok && (before[of] != nil || lifecycle[of]) {
			return true
		}
	}
	return lifecycle[name]
}

// members are the members of a JSON object in a form that can be compared.
func members(text []byte) (map[string]json.RawMessage, bool) {
	var m map[string]json.RawMessage
	if json.Unmarshal(text, &m) != nil || m == nil {
		return nil, false
	}
	for name, raw := range m {
		var b bytes.Buffer
		if json.Compact(&b, raw) != nil {
			return nil, false
		}
		m[name] = b.Bytes()
	}
	return m, true
}

// moduleGrows says that a go.mod only requires more modules, or higher versions of nothing it had.
func moduleGrows(was, now []byte) bool {
	before, err := modfile.Parse("go.mod", was, nil)
	if err != nil {
		return false
	}
	after, err := modfile.Parse("go.mod", now, nil)
	if err != nil {
		return false
	}
	have := map[string]string{}
	for _, r := range after.Require {
		have[r.Mod.Path] = r.Mod.Version
	}
	for _, r := range before.Require {
		if have[r.Mod.Path] != r.Mod.Version {
			return false
		}
	}
	before.SetRequire(nil)
	after.SetRequire(nil)
	before.Cleanup()
	after.Cleanup()
	b, err := before.Format()
	if err != nil {
		return false
	}
	a, err := after.Format()
	return err == nil && bytes.Equal(b, a)
}
