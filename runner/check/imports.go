package check

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/change"
	"sandboxrun/runner/dependency"
)

// imports judges what a changed source imports that it did not import before, and no manifest above it declares.
func (j *depsJudge) imports(ctx context.Context, c *change.Change, l dependency.Language) error {
	now, err := j.read(ctx, Captured, c.Name)
	if err != nil || now == nil {
		return err
	}
	before := c.Name
	if c.OldName != "" {
		before = c.OldName
	}
	was, err := j.read(ctx, Base, before)
	if err != nil {
		return err
	}
	had := map[string]bool{}
	for _, name := range dependency.Imports(l, was) {
		had[name] = true
	}
	for _, name := range dependency.Imports(l, now) {
		if had[name] {
			continue
		}
		known, err := j.declaredFor(ctx, c.Name, l, name)
		switch {
		case err != nil:
			return err
		case known:
		case strings.Contains(name, ":") && !strings.HasPrefix(name, "virtual:") && !strings.HasPrefix(name, "bun:"):
			j.violation(c.Name, "%q imports %q", clip(c.Path), clip(name))
		case l == dependency.JavaScript:
			j.violation(c.Name, "%q imports %q, which no manifest declares", clip(c.Path), clip(name))
		default:
			j.doubt(c.Name, "%q imports %q, which no manifest declares by that name", clip(c.Path), clip(name))
		}
	}
	return nil
}

// declaredFor says that a manifest in a directory above a source declares an import, or that the project itself has it.
func (j *depsJudge) declaredFor(ctx context.Context, source string, l dependency.Language, name string) (bool, error) {
	files, own := []string{"package.json"}, []string(nil)
	if l == dependency.Python {
		files = []string{"pyproject.toml", "requirements.txt", "requirements-dev.txt", "requirements/base.txt", "Pipfile"}
		own = []string{name + ".py", name, "src/" + name}
	}
	for dir := path.Dir(source); ; dir = path.Dir(dir) {
		for _, file := range own {
			if there, err := j.exists(ctx, path.Join(dir, file)); err != nil || there {
				return there, err
			}
		}
		for _, file := range files {
			if there, err := j.declaresIn(ctx, path.Join(dir, file), l, name); err != nil || there {
				return there, err
			}
		}
		if dir == "." {
			return false, nil
		}
	}
}

// declaresIn says that a manifest of the captured tree declares an import. One that cannot be read declares nothing.
func (j *depsJudge) declaresIn(ctx context.Context, manifest string, l dependency.Language, name string) (bool, error) {
	if _, known := j.declared[manifest]; !known {
		d, err := j.declares(ctx, Captured, manifest)
		if _, unread := errors.AsType[*unreadError](err); err != nil && !unread {
			return false, err
		}
		j.declared[manifest] = d
	}
	for dep := range j.declared[manifest] {
		if dep == name || dep == "@types/"+name || l == dependency.Python && strings.EqualFold(strings.ReplaceAll(dep, "-", "_"), name) {
			return true, nil
		}
	}
	return false, nil
}

// exists says that the captured tree has a file or a directory of that path.
func (j *depsJudge) exists(ctx context.Context, name string) (bool, error) {
	_, err := j.e.ReadFile(ctx, Captured, name)
	if other, ok := errors.AsType[*gitdiff.NotFileError](err); ok {
		return other.What == "a directory", nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// installing are commands that install a package.
var installing = regexp.MustCompile(`\b(npm|pnpm|yarn|bun) (install|i|add|exec|dlx)\b|\bnpx \S|\bpipx? install\b|\buv (pip|add|tool)\b|\bgo (get|install)\b|\bcargo (add|install)\b|\bapt(-get)? install\b|\bapk add\b|` +
	`\bgem install\b|\bcomposer require\b|\bdotnet add\b|(curl|wget)[^\n]{1,300}\|\s*(ba|z|da)?sh\b|^FROM \S|\buses: \S|\bfetchcontent_declare\b|\bgit clone\b`)

// installs judges commands in scripts, makefiles, images and workflows that install packages, and were not there before.
func (j *depsJudge) installs(ctx context.Context, c *change.Change) error {
	switch base := strings.ToLower(path.Base(c.Name)); {
	case strings.HasPrefix(base, "dockerfile"), strings.HasSuffix(base, ".dockerfile"), base == "makefile", base == "justfile", base == "cmakelists.txt":
	default:
		switch path.Ext(base) {
		case ".sh", ".bash", ".mk", ".yml", ".yaml", ".cmake", ".toml":
		default:
			return nil
		}
	}
	now, err := j.read(ctx, Captured, c.Name)
	if err != nil || now == nil {
		return err
	}
	was, err := j.read(ctx, Base, c.Name)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(now) {
		if line = bytes.TrimSpace(line); installing.Match(line) && !bytes.Contains(was, line) {
			j.doubt(c.Name, "%q installs something: %q", clip(c.Path), clip(string(line)))
			return nil
		}
	}
	return nil
}
