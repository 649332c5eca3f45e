// Package extract finds in a tree what callers of its Go packages have. It parses source of strangers, and so runs in a box only, over a
// tree that it reads and of which it runs nothing.
package extract

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"sandboxrun/runner/goapi"
)

// Bounds of what is read.
const (
	maxFiles    = 20_000
	maxFile     = 4 << 20
	maxTotal    = 256 << 20
	maxProblems = 50
)

// Main writes the surface of the tree at root; it returns the exit code.
func Main(root string, out io.Writer) int {
	s, err := Tree(root)
	if err == nil {
		err = json.NewEncoder(out).Encode(s)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sandboxrun:", err)
		return 1
	}
	return 0
}

// Tree finds the surface of the packages of a tree.
func Tree(root string) (*goapi.Surface, error) {
	t := &tree{root: root, fset: token.NewFileSet(), dirs: map[string]*source{}, external: map[string]*types.Package{},
		out: &goapi.Surface{Entries: map[string]goapi.Entry{}, Excluded: []string{}, Problems: []string{}}}
	if err := filepath.WalkDir(root, t.visit); err != nil {
		return nil, err
	}
	t.name()
	for _, dir := range t.sorted() {
		if p := t.dirs[dir]; p.public() {
			t.emit(p, t.check(p))
		}
	}
	t.logs()
	return t.out, nil
}

// tree is one extraction.
type tree struct {
	root     string
	fset     *token.FileSet
	dirs     map[string]*source // by directory
	byPath   map[string]*source // by import path
	paths    map[string]string  // of modules, by the directory of their go.mod
	external map[string]*types.Package
	out      *goapi.Surface
	files    int
	bytes    int64
}

// source is the package of one directory.
type source struct {
	dir, path string
	files     []*ast.File
	texts     [][]byte
	checking  bool
	checked   *types.Package
}

func (s *source) public() bool {
	return len(s.files) > 0 && s.files[0].Name.Name != "main" && s.path != "" && !slices.Contains(strings.Split(s.dir, "/"), "internal")
}

func (t *tree) problem(format string, args ...any) {
	if len(t.out.Problems) < maxProblems {
		t.out.Problems = append(t.out.Problems, fmt.Sprintf(format, args...))
	}
}

func (t *tree) sorted() []string {
	var dirs []string
	for d := range t.dirs {
		dirs = append(dirs, d)
	}
	slices.Sort(dirs)
	return dirs
}

// visit takes up one file of the tree, as the go command would.
func (t *tree) visit(name string, d fs.DirEntry, err error) error {
	rel, _ := filepath.Rel(t.root, name)
	rel = filepath.ToSlash(rel)
	base := path.Base(rel)
	switch {
	case err != nil:
		t.problem("%q cannot be read", rel)
		return nil //nolint:nilerr // told
	case d.IsDir():
		if rel != "." && (base == "testdata" || base == "vendor" || base == "node_modules" || base[0] == '.' || base[0] == '_') {
			return fs.SkipDir
		}
		return nil
	case base == "go.mod":
		return t.module(name, path.Dir(rel))
	case !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") || base[0] == '.' || base[0] == '_':
		return nil
	case !d.Type().IsRegular():
		t.problem("%q is no regular file", rel)
		return nil
	}
	text, err := t.read(name, rel)
	if text == nil {
		return err
	}
	ctx := build.Default
	ctx.GOOS, ctx.GOARCH, ctx.CgoEnabled, ctx.UseAllFiles = "linux", "amd64", true, false
	ctx.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(string(text))), nil }
	if match, err := ctx.MatchFile(filepath.Dir(name), base); err == nil && !match {
		t.out.Excluded = append(t.out.Excluded, rel)
		return nil
	}
	file, err := parser.ParseFile(t.fset, rel, text, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		t.problem("%q does not parse", rel)
		return nil //nolint:nilerr // told
	}
	dir := path.Dir(rel)
	s := t.dirs[dir]
	if s == nil {
		s = &source{dir: dir}
		t.dirs[dir] = s
	}
	if len(s.files) > 0 && s.files[0].Name.Name != file.Name.Name {
		t.problem("%q is of another package than the files beside it", rel)
		return nil
	}
	s.files, s.texts = append(s.files, file), append(s.texts, text)
	return nil
}

func (t *tree) read(name, rel string) ([]byte, error) {
	info, err := os.Lstat(name)
	if err != nil || info.Size() > maxFile {
		t.problem("%q cannot be read or is larger than %d bytes", rel, maxFile)
		return nil, nil //nolint:nilerr // told
	}
	if t.files++; t.files > maxFiles {
		return nil, fmt.Errorf("more than %d files", maxFiles)
	}
	if t.bytes += info.Size(); t.bytes > maxTotal {
		return nil, fmt.Errorf("more than %d bytes of source", maxTotal)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.problem("%q cannot be read", rel)
		return nil, nil //nolint:nilerr // told
	}
	return text, nil
}

func (t *tree) module(name, dir string) error {
	text, err := t.read(name, path.Join(dir, "go.mod"))
	if text == nil {
		return err
	}
	if t.paths == nil {
		t.paths = map[string]string{}
	}
	of := modfile.ModulePath(text)
	if of == "" {
		t.problem("%q names no module", path.Join(dir, "go.mod"))
		return nil
	}
	t.paths[dir] = of
	return nil
}

// name gives each package the import path that it has by the go.mod above it. Without one it is known by its directory.
func (t *tree) name() {
	t.byPath = map[string]*source{}
	for dir, s := range t.dirs {
		s.path = path.Join("no module", dir)
		for up := dir; ; up = path.Dir(up) {
			if module, ok := t.paths[up]; ok {
				rest := strings.TrimPrefix(strings.TrimPrefix(dir, up), "/")
				if up == "." {
					rest = dir
				}
				s.path = path.Join(module, rest)
				break
			}
			if up == "." {
				break
			}
		}
		t.byPath[s.path] = s
		t.out.Packages++
	}
}
