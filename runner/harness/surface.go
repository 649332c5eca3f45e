package harness

import (
	"context"
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"sandboxrun/gitdiff/change"
)

// Reader reads a file of one of two trees: of the base, or of the change. A file that is not there, or cannot be read, is an error.
type Reader func(ctx context.Context, changed bool, name string) ([]byte, error)

// Surface is what a change does to the files that decide what commands run and how they end.
type Surface struct {
	// Touched are the names, in the order of the diff, that a restored run takes from the base: files of the base that the change
	// altered or removed, and new ones that take effect on what was there before. Both names of a renamed file are in it.
	Touched []string
	// NewTests are new files that only add tests. A restored run keeps them.
	NewTests []string
}

// Bounds of what is read to find out what commands run.
const (
	maxScripts     = 50
	maxScriptBytes = 256 << 10
)

// SurfaceOf finds the surface of the commands that [Judges] accepts, in a change. read is asked for manifests and scripts only.
// The error is ctx's.
func SurfaceOf(ctx context.Context, commands []string, changes []change.Change, read Reader) (Surface, error) {
	asked := wordsOf(commands)
	scripts := runScripts(ctx, commands, changes, read)
	var s Surface
	for i := range changes {
		c := &changes[i]
		if i%256 == 0 && ctx.Err() != nil {
			return s, context.Cause(ctx)
		}
		role := RoleOf(c.Name)
		if role == Product && scripts[c.Name] {
			role = Config
		}
		if role == Product {
			continue
		}
		moved := c.Type == change.Added && c.OldName != "" && RoleOf(c.OldName) != Product
		switch {
		case c.Type == change.Added && role == Test && !moved:
			s.NewTests = append(s.NewTests, c.Name)
		case role == Config && harmless(ctx, c, read, asked):
		default:
			s.Touched = append(s.Touched, c.Name)
		}
	}
	return s, ctx.Err()
}

// origin is where the text of shell commands comes from: what it names is judged accordingly.
type origin int

const (
	fromTask     origin = iota // a command of the task, which may name what is judged
	fromManifest               // a script of a manifest or a target of a makefile: the shell scripts that it runs decide what is run
	fromScript                 // a script, which may name what it tests
)

// runScripts are the changed files that the commands run, found by following names from the commands through manifests and scripts
// of the base.
func runScripts(ctx context.Context, commands []string, changes []change.Change, read Reader) map[string]bool {
	changed := map[string]bool{}
	for i := range changes {
		changed[changes[i].Name] = true
	}
	type text struct {
		content string
		origin
	}
	found, seen := map[string]bool{}, map[string]bool{}
	var work []text
	for _, c := range commands {
		work = append(work, text{c, fromTask})
	}
	for _, name := range []string{"package.json", "Makefile", "makefile", "GNUmakefile"} {
		if content, err := read(ctx, false, name); err == nil && len(content) <= maxScriptBytes {
			work = append(work, text{recipes(name, content, wordsOf(commands)), fromManifest})
		}
	}
	for len(work) > 0 && ctx.Err() == nil {
		t := work[0]
		work = work[1:]
		for _, c := range calls(t.content) {
			name := c.script()
			if seen[name] || !decides(name, t.origin) {
				continue
			}
			seen[name] = true
			if changed[name] {
				found[name] = true
			}
			if len(seen) > maxScripts {
				return found
			}
			if content, err := read(ctx, false, name); err == nil && len(content) <= maxScriptBytes {
				work = append(work, text{string(content), fromScript})
			}
		}
	}
	return found
}

// decides says that a script which something of an origin runs decides how that ends, and is not what is judged.
func decides(name string, by origin) bool {
	return name != "" && (judgesByName(name) || by == fromManifest && isScript(name))
}

// isScript says that a file is one that runs others: a shell script, or one of a directory of scripts.
func isScript(name string) bool {
	switch path.Ext(name) {
	case ".sh", ".bash", ".ps1":
		return true
	}
	for d := range strings.SplitSeq(path.Dir(name), "/") {
		if slices.Contains([]string{"scripts", "script", "ci", ".ci", "tools", "hack"}, d) {
			return true
		}
	}
	return false
}

// recipes are the shell commands of a manifest's scripts, or of a makefile's targets, that words name, and of those that they name in turn.
func recipes(name string, content []byte, words map[string]bool) string {
	all := targets(content)
	if path.Base(name) == "package.json" {
		all = scriptsOf(content)
		if words["npm"] && words["t"] {
			words["test"] = true
		}
	} else if words["make"] && len(all) > 0 { // without a name it makes the first one
		words["all"], words["test"], words["check"] = true, true, true
	}
	var lines []string
	for more := true; more; {
		more = false
		for _, target := range slices.Sorted(maps.Keys(all)) {
			of := strings.TrimPrefix(strings.TrimPrefix(target, "pre"), "post")
			if text := all[target]; words[target] || words[of] {
				delete(all, target)
				lines, more = append(lines, text), true
				for w := range strings.FieldsSeq(text) {
					words[strings.Trim(w, "\"'`;&|()$")] = true
				}
			}
		}
	}
	return strings.Join(lines, "\n")
}

// scriptsOf are the scripts of a package.json by name.
func scriptsOf(content []byte) map[string]string {
	var manifest struct {
		Scripts map[string]json.RawMessage `json:"scripts"`
	}
	all := map[string]string{}
	if json.Unmarshal(content, &manifest) != nil {
		return all
	}
	for name, raw := range manifest.Scripts {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			all[name] = s
		}
	}
	return all
}

// targetLine is the line of a makefile that begins the rule of one or more targets; what follows it are prerequisites.
var targetLine = regexp.MustCompile(`^([A-Za-z0-9_./ -]{1,300}):([^=].*)?$`)

// targets are the rules of a makefile by target: prerequisites and recipe.
func targets(content []byte) map[string]string {
	all := map[string]string{}
	var open []string
	for line := range strings.Lines(string(content)) {
		line = strings.TrimRight(line, "\r\n")
		m := targetLine.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "\t"):
			for _, name := range open {
				all[name] += "\n" + strings.TrimLeft(line, "\t@- ")
			}
		case m != nil:
			open = strings.Fields(m[1])
			for _, name := range open {
				all[name] += " true " + m[2]
			}
		}
	}
	return all
}
