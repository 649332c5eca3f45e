package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/change"
	"sandboxrun/runner/dependency"
)

func init() {
	register(Kind{
		Name: "dependencies",
		Help: "No manifest gains a dependency, no package is copied into the tree, no source imports what no manifest declares, and what was there keeps its version and source. npm, Go, Python, Cargo and Composer are read; a change of another manifest is unverifiable.",
		Params: []Param{
			{Name: "allow", Help: "Names of packages that may be added; * stands for any characters but a slash.", Type: Names, Min: 1, Max: 500},
			{Name: "versions", Help: "Existing dependencies may change their version (default false).", Type: Boolean},
		},
	}, func(v values) Check { return dependencies{v.names("allow"), v.boolean("versions", false)} })
}

// dependencies judges manifests, lock files, copied packages and imports.
type dependencies struct {
	allow    []string
	versions bool
}

// depsJudge is one judging: what was found so far.
type depsJudge struct {
	dependencies
	e         Evidence
	violated  []string // what breaks the constraint, in words
	unknown   []string // what cannot be judged, in words
	paths     []string
	manifests map[string]bool                // directories whose manifest changed
	declared  map[string]dependency.Declared // of the captured tree, by path of the manifest; nil where there is none
}

func (c dependencies) Check(ctx context.Context, e Evidence) (Verdict, error) {
	j := &depsJudge{dependencies: c, e: e, manifests: map[string]bool{}, declared: map[string]dependency.Declared{}}
	for _, pass := range []func(context.Context, *change.Change) error{j.manifest, j.rest} { // manifests first: lock files follow them
		for i := range e.Changes {
			if i%256 == 0 && ctx.Err() != nil {
				return Verdict{}, context.Cause(ctx)
			}
			if err := pass(ctx, &e.Changes[i]); err != nil {
				return Verdict{}, err
			}
		}
	}
	switch {
	case len(j.violated) > 0:
		return Verdict{Verdict: Fail, Evidence: "dependencies changed: " + listed(j.violated), Paths: shown(j.paths)}, nil
	case len(j.unknown) > 0:
		return Verdict{Verdict: Unverifiable, Evidence: "not measured: " + listed(j.unknown) + "; read these, or keep the change away from them", Paths: shown(j.paths)}, nil
	}
	return Verdict{Verdict: Pass, Evidence: "no dependency is new or other than before"}, nil
}

// listed shows the first of a list of texts.
func listed(texts []string) string {
	const most = 4
	text := strings.Join(texts[:min(most, len(texts))], "; ")
	if more := len(texts) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func (j *depsJudge) violation(name, format string, args ...any) {
	j.violated, j.paths = append(j.violated, fmt.Sprintf(format, args...)), append(j.paths, name)
}

func (j *depsJudge) doubt(name, format string, args ...any) {
	j.unknown, j.paths = append(j.unknown, fmt.Sprintf(format, args...)), append(j.paths, name)
}

// allowed says that a package may be added.
func (j *depsJudge) allowed(name string) bool {
	for _, a := range j.allow {
		if a == name || strings.EqualFold(a, name) || strings.Contains(a, "*") && doublestar.MatchUnvalidated(a, name) {
			return true
		}
	}
	return false
}

// read is a file of one tree; nil where there is no regular file.
func (j *depsJudge) read(ctx context.Context, from Tree, name string) ([]byte, error) {
	content, err := j.e.ReadFile(ctx, from, name)
	if _, other := errors.AsType[*gitdiff.NotFileError](err); other || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return content, err
}

// manifest judges a change of a manifest.
func (j *depsJudge) manifest(ctx context.Context, c *change.Change) error {
	form := dependency.FormOf(c.Name)
	if form != dependency.Manifest && form != dependency.Opaque {
		return nil
	}
	j.manifests[path.Dir(c.Name)] = true
	if c.Type == change.Deleted && form == dependency.Opaque {
		return nil
	}
	if form == dependency.Opaque {
		j.doubt(c.Name, "%q changed, and manifests of this form are not read", clip(c.Path))
		return nil
	}
	if c.NewMode == "120000" || c.OldMode == "120000" {
		j.doubt(c.Name, "%q is, or was, a symbolic link", clip(c.Path))
		return nil
	}
	from := c.Name
	if c.OldName != "" && dependency.FormOf(c.OldName) == dependency.Manifest {
		from = c.OldName // it moved
	}
	was, err := j.declares(ctx, Base, from)
	if err == nil {
		var now dependency.Declared
		if now, err = j.declares(ctx, Captured, c.Name); err == nil {
			j.compare(c, was, now)
			return nil
		}
	}
	if unread, is := errors.AsType[*unreadError](err); is {
		j.doubt(c.Name, "%q cannot be read: %s", clip(c.Path), clip(unread.Error()))
		return nil
	}
	return err
}

// unreadError says that a manifest is not what it should be.
type unreadError struct{ error }

func (j *depsJudge) declares(ctx context.Context, from Tree, name string) (dependency.Declared, error) {
	content, err := j.read(ctx, from, name)
	if err != nil || content == nil {
		return nil, err
	}
	d, err := dependency.Read(name, content)
	if err != nil {
		return nil, &unreadError{err}
	}
	return d, nil
}

// compare judges what a manifest declares against what it did.
func (j *depsJudge) compare(c *change.Change, was, now dependency.Declared) {
	grew := false // an allowed package came, which brings others
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, old := was[name]; !old && !strings.HasPrefix(name, dependency.Indirect) && j.allowed(name) {
			grew = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		asked, old := was[name]
		switch {
		case old && asked == now[name]:
		case strings.HasPrefix(name, dependency.Override):
			j.violation(c.Name, "%q puts another package or source in the place of one: %q", clip(c.Path), clip(strings.TrimPrefix(name, dependency.Override)))
		case strings.HasPrefix(name, dependency.Indirect):
			if !grew && !j.versions && !old && was[strings.TrimPrefix(name, dependency.Indirect)] == "" || old && !grew && !j.versions {
				j.violation(c.Name, "%q asks for %q", clip(c.Path), clip(name))
			}
		case old && !(j.versions && isVersion(now[name]) && isVersion(asked)):
			j.violation(c.Name, "%q asks for another version or source of %q", clip(c.Path), clip(name))
		case old:
		case was[dependency.Indirect+name] == now[name] && now[name] != "": // it was there, for another's sake
			if !j.allowed(name) {
				j.violation(c.Name, "%q asks for %q itself", clip(c.Path), clip(name))
			}
		case !j.allowed(name):
			j.violation(c.Name, "%q asks for %q", clip(c.Path), clip(name))
		case !isVersion(now[name]):
			j.violation(c.Name, "%q takes %q from a place of its own: %q", clip(c.Path), clip(name), clip(now[name]))
		}
	}
}

// isVersion says that what is asked of a package is a version or a range, and no address, path or other package.
func isVersion(asked string) bool {
	return !strings.ContainsAny(asked, ":/@\\") && !strings.Contains(asked, "git") && !strings.Contains(asked, "path")
}

// rest judges what is no manifest: lock files, copied packages, imports, and commands that install.
func (j *depsJudge) rest(ctx context.Context, c *change.Change) error {
	switch dependency.FormOf(c.Name) {
	case dependency.Vendored:
		if c.Type != change.Deleted && c.NewID != c.OldID {
			j.violation(c.Name, "%q is part of a package that was copied into the tree", clip(c.Path))
		}
		return nil
	case dependency.Lock:
		return j.lock(ctx, c)
	case dependency.Manifest, dependency.Opaque:
		return nil
	case dependency.None:
	}
	if c.Type == change.Deleted {
		return nil
	}
	if l := dependency.LanguageOf(c.Name); l != dependency.Other {
		return j.imports(ctx, c, l)
	}
	return j.installs(ctx, c)
}

func (j *depsJudge) lock(ctx context.Context, c *change.Change) error {
	if c.Type == change.Deleted || j.versions {
		if c.Type == change.Deleted {
			j.doubt(c.Name, "%q, which pinned versions, is gone", clip(c.Path))
		}
		return nil
	}
	if !j.manifests[path.Dir(c.Name)] && c.Type != change.Added {
		j.violation(c.Name, "%q pins other packages, although no manifest beside it changed", clip(c.Path))
		return nil
	}
	pins := func(from Tree) (dependency.Declared, error) {
		content, err := j.read(ctx, from, c.Name)
		if err != nil || content == nil {
			return nil, err
		}
		d, err := dependency.ReadLock(c.Name, content)
		if err != nil {
			err = &unreadError{err}
		}
		return d, err
	}
	was, err := pins(Base)
	var now dependency.Declared
	if err == nil {
		now, err = pins(Captured)
	}
	if unread, is := errors.AsType[*unreadError](err); is {
		j.doubt(c.Name, "%q cannot be read: %s", clip(c.Path), clip(unread.Error()))
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if pin, still := now[name]; still && pin != was[name] {
			j.violation(c.Name, "%q pins another version or content of %q", clip(c.Path), clip(name))
		}
	}
	return err
}
