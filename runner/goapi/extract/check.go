package extract

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"strconv"
)

// check finds the types of a package's declarations. Packages of the tree are imported from their source. Of others nothing is there: a name
// of theirs in the place of a type becomes a type of that name, and nothing else of them is known.
func (t *tree) check(s *source) *types.Package {
	if s.checked != nil {
		return s.checked
	}
	s.checking = true
	for _, f := range s.files {
		t.declare(f)
	}
	config := types.Config{
		IgnoreFuncBodies: true, FakeImportC: true, DisableUnusedImportCheck: true, Importer: importer{t},
		Error: func(error) {}, // what is not known shows in the types
	}
	s.checked, _ = config.Check(s.path, t.fset, s.files, nil)
	s.checking = false
	return s.checked
}

type importer struct{ *tree }

func (i importer) Import(of string) (*types.Package, error) {
	if s := i.byPath[of]; s != nil {
		if s.checking {
			return nil, errors.New("import cycle")
		}
		return i.check(s), nil
	}
	return i.packageOf(of), nil
}

// packageOf is what stands for a package that is not in the tree.
func (t *tree) packageOf(of string) *types.Package {
	p := t.external[of]
	if p == nil {
		p = types.NewPackage(of, usualName(of))
		p.MarkComplete()
		t.external[of] = p
	}
	return p
}

var version = regexp.MustCompile(`(/v[0-9]+|\.v[0-9]+)$`)

// usualName is the name that a package of an import path usually has. Where it is another, what names it is not known, and stands as written.
func usualName(of string) string { return path.Base(version.ReplaceAllString(of, "")) }

// declare makes the types of other packages that a file names in the place of types.
func (t *tree) declare(f *ast.File) {
	d := declarer{t, map[string]string{}}
	for _, spec := range f.Imports {
		of, err := strconv.Unquote(spec.Path.Value)
		if err != nil || t.byPath[of] != nil || of == "C" || of == "unsafe" {
			continue
		}
		name := t.packageOf(of).Name()
		if spec.Name != nil {
			name = spec.Name.Name
		}
		d.imports[name] = of
	}
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv != nil {
				d.types(decl.Recv)
			}
			d.types(decl.Type)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				d.spec(spec)
			}
		}
	}
}

// declarer makes the types that one file names.
type declarer struct {
	*tree
	imports map[string]string // paths by the names that the file gives them
}

func (d declarer) spec(spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		d.types(spec.Type)
		if spec.TypeParams != nil {
			d.types(spec.TypeParams)
		}
	case *ast.ValueSpec:
		if spec.Type != nil {
			d.types(spec.Type)
		}
		for _, v := range spec.Values {
			literals(v, d.types)
		}
	}
}

// types makes what a node names of other packages; all of it stands in the place of types.
func (d declarer) types(of ast.Node) {
	ast.Inspect(of, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && d.imports[x.Name] != "" {
			p := d.packageOf(d.imports[x.Name])
			if p.Scope().Lookup(sel.Sel.Name) == nil {
				obj := types.NewTypeName(token.NoPos, p, sel.Sel.Name, nil)
				types.NewNamed(obj, types.NewStruct(nil, nil), nil)
				p.Scope().Insert(obj)
			}
		}
		return true
	})
}

// literals calls visit with the types of the literals in an initial value.
func literals(of ast.Expr, visit func(ast.Node)) {
	ast.Inspect(of, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if n.Type != nil {
				visit(n.Type)
			}
		case *ast.FuncLit:
			visit(n.Type)
			return false
		}
		return true
	})
}
