// Package dependency reads what manifests, lock files and sources say of the packages that a project depends on. It is pure, and
// reads nothing but the bytes it is given, which strangers may have written.
package dependency

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/pelletier/go-toml/v2"
)

// Declared are the dependencies of a manifest: what is asked of each, by name. A name begins with "override " where it does not add a
// package but puts another in the place of one.
type Declared map[string]string

// Override begins the names of entries that put one package in the place of another.
const Override = "override "

// Bounds of a manifest.
const (
	maxBytes   = 1 << 20
	maxDepth   = 20
	maxEntries = 20_000
)

// ErrUnread says that a manifest is of a form that is not read here, or too large.
var ErrUnread = errors.New("manifests of this form are not read")

// Form is what a file is to dependencies.
type Form int

// Forms of files.
const (
	None     Form = iota
	Manifest      // read by Read
	Opaque        // a manifest that is a program, or of a form that is not read
	Lock          // written by a tool; pins what a manifest asks for
	Vendored      // a package itself
)

var manifests = map[string]func([]byte) (Declared, error){
	"package.json": readPackage, "composer.json": readComposer, "go.mod": readModule, "Cargo.toml": readCargo, "pyproject.toml": readPyproject, "Pipfile": readPipfile,
}

var requirements = regexp.MustCompile(`^(requirements|constraints)[A-Za-z0-9._-]*\.(txt|in)$`)

var opaque = regexp.MustCompile(`^(setup\.(py|cfg)|pom\.xml|.*\.gradle(\.kts)?|libs\.versions\.toml|gradle\.properties|Gemfile|.*\.gemspec|gems\.rb|.*\.(cs|fs|vb)proj|packages\.config|Directory\..*\.(props|targets)|` +
	`mix\.exs|rebar\.config|Package\.swift|Podfile|Cartfile|build\.sbt|project\.clj|deps\.edn|conanfile\.(txt|py)|vcpkg\.json|deno\.jsonc?|import_map\.json|jsr\.json|pnpm-workspace\.yaml|` +
	`environment\.ya?ml|pubspec\.yaml|WORKSPACE|MODULE\.bazel|build\.zig\.zon|stack\.yaml|.*\.cabal|go\.work|\.npmrc|\.yarnrc(\.yml)?|pip\.conf|uv\.toml|\.gitmodules|nuget\.config|bower\.json)$`)

var locks = regexp.MustCompile(`^(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|deno\.lock|go\.sum|go\.work\.sum|Cargo\.lock|poetry\.lock|uv\.lock|pdm\.lock|Pipfile\.lock|` +
	`Gemfile\.lock|composer\.lock|gradle\.lockfile|packages\.lock\.json|mix\.lock|pubspec\.lock|Package\.resolved|Podfile\.lock|conda-lock\.yml)$`)

var packages = regexp.MustCompile(`(?i)\.(jar|war|aar|whl|egg|gem|nupkg|crate|tgz|deb|rpm|dll|so(\.[0-9.]+)?|dylib|a|lib)$`)

var vendorDirs = map[string]bool{"node_modules": true, "bower_components": true, "jspm_packages": true, "third_party": true, "thirdparty": true, "site-packages": true, "pods": true, "vendor": true, "vendored": true, "_vendor": true}

// FormOf says what a file is by its path.
func FormOf(name string) Form {
	base := path.Base(name)
	dirs := strings.Split(strings.ToLower(path.Dir(name)), "/")
	for i, d := range dirs {
		if vendorDirs[d] || d == "cache" && i > 0 && dirs[i-1] == ".yarn" {
			return Vendored
		}
	}
	switch {
	case manifests[base] != nil, requirements.MatchString(base), path.Base(path.Dir(name)) == "requirements" && strings.HasSuffix(base, ".txt"):
		return Manifest
	case opaque.MatchString(base):
		return Opaque
	case locks.MatchString(base):
		return Lock
	case packages.MatchString(base):
		return Vendored
	}
	return None
}

// Read reads a manifest by its path. Errors wrap [ErrUnread], or are about what cannot be understood.
func Read(name string, content []byte) (Declared, error) {
	if len(content) > maxBytes {
		return nil, fmt.Errorf("%w: larger than %d bytes", ErrUnread, maxBytes)
	}
	read := manifests[path.Base(name)]
	if read == nil {
		if FormOf(name) != Manifest {
			return nil, ErrUnread
		}
		read = readRequirements
	}
	d, err := read(content)
	if err == nil && len(d) > maxEntries {
		err = fmt.Errorf("%w: more than %d entries", ErrUnread, maxEntries)
	}
	return d, err
}

// put adds an entry; a name that several sections have stands for all they ask.
func (d Declared) put(name, asked string) {
	if old, ok := d[name]; ok && old != asked {
		asked = old + " " + asked
	}
	d[name] = asked
}

// putAll adds the members of an object; values that are no strings are kept as they are written.
func (d Declared) putAll(prefix string, of any) error {
	switch of := of.(type) {
	case nil:
	case map[string]any:
		for name, asked := range of {
			text, err := written(asked, maxDepth)
			if err != nil {
				return err
			}
			d.put(prefix+name, text)
		}
	case []any:
		for _, name := range of {
			text, err := written(name, maxDepth)
			if err != nil {
				return err
			}
			d.put(prefix+text, "listed")
		}
	default:
		return errors.New("a list of dependencies is neither an object nor a list")
	}
	return nil
}

// written is a value in one form; what is nested deeper than the bound is refused, because the stack of this program is not for strangers.
func written(value any, depth int) (string, error) {
	if depth == 0 {
		return "", fmt.Errorf("%w: values nested deeper than %d", ErrUnread, maxDepth)
	}
	var parts []string
	switch v := value.(type) {
	case map[string]any:
		if plain(v) { // { version = "1", features = ["x"] } asks for a version, like "1"
			features, err := written(v["features"], depth-1)
			version, _ := v["version"].(string)
			return strings.TrimSuffix(version+" "+features, " <nil>"), err
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			text, err := written(v[name], depth-1)
			if err != nil {
				return "", err
			}
			parts = append(parts, name+":"+text)
		}
		return "{" + strings.Join(parts, " ") + "}", nil
	case []any:
		for _, item := range v {
			text, err := written(item, depth-1)
			if err != nil {
				return "", err
			}
			parts = append(parts, text)
		}
		return "[" + strings.Join(parts, " ") + "]", nil
	}
	return fmt.Sprint(value), nil
}

// plain says that a table asks for a version of a package and says nothing of where it comes from.
func plain(table map[string]any) bool {
	for name := range table {
		if !slices.Contains([]string{"version", "features", "optional", "default-features", "default_features", "extras", "markers", "python", "public"}, name) {
			return false
		}
	}
	_, versioned := table["version"].(string)
	return versioned
}

// at follows the names of nested objects; nil where one is missing.
func at(of any, names ...string) any {
	for _, n := range names {
		m, ok := of.(map[string]any)
		if !ok {
			return nil
		}
		of = m[n]
	}
	return of
}

func readPackage(content []byte) (Declared, error) {
	var m map[string]any
	if err := jsonv2.Unmarshal(content, &m); err != nil {
		return nil, err
	}
	d := Declared{}
	var errs []error
	for _, section := range []string{"dependencies", "devDependencies", "peerDependencies", "optionalDependencies"} {
		errs = append(errs, d.putAll("", m[section]))
	}
	errs = append(errs, d.putAll(Override, m["overrides"]), d.putAll(Override, m["resolutions"]), d.putAll(Override, at(m, "pnpm", "overrides")),
		d.putAll(Override+"bundled ", m["bundledDependencies"]), d.putAll(Override+"bundled ", m["bundleDependencies"]), d.putAll(Override+"import ", m["imports"]))
	return d, errors.Join(errs...)
}

func readComposer(content []byte) (Declared, error) {
	var m map[string]any
	if err := jsonv2.Unmarshal(content, &m); err != nil {
		return nil, err
	}
	d := Declared{}
	return d, errors.Join(d.putAll("", m["require"]), d.putAll("", m["require-dev"]), d.putAll(Override, m["replace"]), d.putAll(Override+"repository ", m["repositories"]))
}

func readModule(content []byte) (Declared, error) {
	f, err := modfile.Parse("go.mod", content, nil)
	if err != nil {
		return nil, err
	}
	d := Declared{}
	for _, r := range f.Require {
		if r.Indirect { // follows from others, and go.sum pins it
			d.put(Indirect+r.Mod.Path, r.Mod.Version)
		} else {
			d.put(r.Mod.Path, r.Mod.Version)
		}
	}
	for _, r := range f.Replace {
		d.put(Override+r.Old.String(), r.New.String())
	}
	for _, t := range f.Tool {
		d.put("tool "+t.Path, "")
	}
	return d, nil
}

// Indirect begins the names of packages that only other dependencies ask for.
const Indirect = "indirect "

func readCargo(content []byte) (Declared, error) {
	var m map[string]any
	if err := toml.Unmarshal(content, &m); err != nil {
		return nil, err
	}
	d := Declared{}
	var errs []error
	sections := []any{m, at(m, "workspace")}
	if targets, ok := m["target"].(map[string]any); ok {
		for _, t := range targets {
			sections = append(sections, t)
		}
	}
	for _, s := range sections {
		for _, name := range []string{"dependencies", "dev-dependencies", "build-dependencies", "dev_dependencies", "build_dependencies"} {
			errs = append(errs, d.putAll("", at(s, name)))
		}
	}
	if patches, ok := m["patch"].(map[string]any); ok {
		for _, p := range patches {
			errs = append(errs, d.putAll(Override, p))
		}
	}
	return d, errors.Join(append(errs, d.putAll(Override, m["replace"]))...)
}

func readPipfile(content []byte) (Declared, error) {
	var m map[string]any
	if err := toml.Unmarshal(content, &m); err != nil {
		return nil, err
	}
	d := Declared{}
	var errs []error
	for section, of := range m {
		switch section {
		case "source":
			errs = append(errs, d.putAll(Override+"source ", of))
		case "requires", "scripts", "pipenv":
		default: // packages, dev-packages, and categories of any name
			errs = append(errs, d.putAll("", of))
		}
	}
	return d, errors.Join(errs...)
}

func readPyproject(content []byte) (Declared, error) {
	var m map[string]any
	if err := toml.Unmarshal(content, &m); err != nil {
		return nil, err
	}
	d := Declared{}
	for _, list := range []any{at(m, "project", "dependencies"), at(m, "build-system", "requires"), at(m, "tool", "uv", "dev-dependencies")} {
		d.putList(list)
	}
	for _, groups := range []any{at(m, "project", "optional-dependencies"), m["dependency-groups"], at(m, "tool", "pdm", "dev-dependencies")} {
		if g, ok := groups.(map[string]any); ok {
			for _, list := range g {
				d.putList(list)
			}
		}
	}
	errs := []error{
		d.putAll("", at(m, "tool", "poetry", "dependencies")), d.putAll("", at(m, "tool", "poetry", "dev-dependencies")),
		d.putAll(Override+"source ", at(m, "tool", "uv", "sources")), d.putAll(Override+"source ", at(m, "tool", "poetry", "source")),
		d.putAll(Override+"index ", at(m, "tool", "uv", "index")), d.putAll(Override, at(m, "tool", "uv", "override-dependencies")),
	}
	if groups, ok := at(m, "tool", "poetry", "group").(map[string]any); ok {
		for _, g := range groups {
			errs = append(errs, d.putAll("", at(g, "dependencies")))
		}
	}
	if dynamic, ok := at(m, "project", "dynamic").([]any); ok {
		for _, name := range dynamic {
			if s, ok := name.(string); ok && strings.Contains(s, "dependencies") {
				return d, fmt.Errorf("%w: its dependencies are dynamic", ErrUnread)
			}
		}
	}
	return d, errors.Join(errs...)
}

// putList adds requirements in the form of PEP 508.
func (d Declared) putList(of any) {
	list, _ := of.([]any)
	for _, item := range list {
		if s, ok := item.(string); ok {
			d.putRequirement(s)
		} else {
			d.put(Override+"a group of another form", "listed")
		}
	}
}

var requirement = regexp.MustCompile(`^\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(\[[^\]]*\])?\s*(.*)$`)

func (d Declared) putRequirement(line string) {
	m := requirement.FindStringSubmatch(line)
	if m == nil || strings.Contains(line, "://") && !strings.Contains(m[3], "@") {
		d.put(Override+strings.TrimSpace(line), "listed")
		return
	}
	d.put(pythonName(m[1]), strings.Join(strings.Fields(m[2]+m[3]), ""))
}

var separators = regexp.MustCompile(`[-_.]+`)

// pythonName is the normal form of a name (PEP 503).
func pythonName(name string) string { return strings.ToLower(separators.ReplaceAllString(name, "-")) }

func readRequirements(content []byte) (Declared, error) {
	d := Declared{}
	text := strings.ReplaceAll(string(content), "\\\n", " ")
	for line := range strings.Lines(text) {
		if i := strings.Index(line, " #"); i >= 0 {
			line = line[:i]
		}
		if i := strings.Index(line, " --hash="); i >= 0 {
			line = line[:i]
		}
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "-"): // another file, an index, an editable package
			d.put(Override+line, "listed")
		default:
			d.putRequirement(line)
		}
	}
	return d, nil
}
