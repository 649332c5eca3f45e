package extract

import (
	"bytes"
	"go/ast"
	"go/printer"
	"go/types"
	"strings"

	"sandboxrun/runner/goapi"
)

// emit lists what callers have of a package: its exported names, and the fields and methods of types that those lead to.
func (t *tree) emit(s *source, p *types.Package) {
	if p == nil {
		t.problem("package %q cannot be understood", s.path)
		return
	}
	e := &emitter{t, s, p, map[string]bool{}}
	for _, name := range p.Scope().Names() {
		if obj := p.Scope().Lookup(name); obj.Exported() {
			e.object(obj)
		}
	}
	for more := true; more; { // types without an exported name whose values callers get
		more = false
		for _, name := range p.Scope().Names() {
			obj, ok := p.Scope().Lookup(name).(*types.TypeName)
			if ok && !obj.Exported() && !e.done[name] && e.mentioned(name) {
				e.object(obj)
				more = true
			}
		}
	}
}

type emitter struct {
	*tree
	source *source
	pkg    *types.Package
	done   map[string]bool
}

// mentioned says that an entry of the package names one of its types.
func (e *emitter) mentioned(name string) bool {
	for key, entry := range e.out.Entries {
		if strings.HasPrefix(key, e.source.path+".") && strings.Contains(entry.Shape+" ", e.source.path+"."+name) {
			return true
		}
	}
	return false
}

// qualified writes types with the whole path of their package.
func qualified(p *types.Package) string { return p.Path() }

func text(t types.Type) string { return types.TypeString(t, qualified) }

// put adds an entry. Where a type is not known, because another package decides it, what the source says stands for it.
func (e *emitter) put(name string, entry goapi.Entry, obj types.Object) {
	entry.Dir = e.source.dir
	if strings.Contains(entry.Text, "invalid type") {
		entry.Text = "as written: " + e.written(obj)
		entry.Shape = entry.Text
	}
	e.out.Entries[e.source.path+"."+name] = entry
}

func (e *emitter) object(obj types.Object) {
	e.done[obj.Name()] = true
	switch obj := obj.(type) {
	case *types.Const:
		shape := "const " + text(obj.Type()) + " = " + obj.Val().ExactString()
		e.put(obj.Name(), goapi.Entry{Kind: goapi.Const, Text: shape, Shape: shape}, obj)
	case *types.Var:
		e.put(obj.Name(), goapi.Entry{Kind: goapi.Var, Text: text(obj.Type()), Shape: shape(obj.Type())}, obj)
	case *types.Func:
		e.function(obj.Name(), goapi.Func, obj, obj.Signature())
	case *types.TypeName:
		e.typeName(obj)
	}
}

func (e *emitter) function(name, kind string, obj types.Object, s *types.Signature) {
	entry := goapi.Entry{Kind: kind, Text: text(s), Shape: shape(s)}
	for _, list := range []*types.Tuple{s.Params(), s.Results()} {
		for v := range list.Variables() {
			entry.Params = append(entry.Params, v.Name())
		}
	}
	e.put(name, entry, obj)
}

func (e *emitter) typeName(obj *types.TypeName) {
	if obj.IsAlias() {
		of := "= " + text(types.Unalias(obj.Type()))
		e.put(obj.Name(), goapi.Entry{Kind: goapi.Type, Text: of, Shape: of}, obj)
		return
	}
	named, ok := obj.Type().(*types.Named)
	if !ok {
		return
	}
	entry := goapi.Entry{Kind: goapi.Type, Equal: types.Comparable(named)}
	params := constraints(named.TypeParams())
	switch under := named.Underlying().(type) {
	case *types.Struct:
		entry.Text = "struct" + params
		e.fields(obj.Name(), under, 0, map[string]bool{})
	case *types.Interface:
		entry.Text = "interface" + params
		entry.Text += unions(under)
		for m := range under.Methods() {
			if entry.Closed = entry.Closed || !m.Exported(); m.Exported() {
				e.function(obj.Name()+"."+m.Name(), goapi.Required, obj, m.Signature())
			}
		}
	default:
		entry.Text = text(under) + params
	}
	entry.Shape = entry.Text
	e.put(obj.Name(), entry, obj)
	if types.IsInterface(named) {
		return
	}
	values := types.NewMethodSet(named)
	for m := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		f, ok := m.Obj().(*types.Func)
		if !ok || !f.Exported() {
			continue
		}
		name := obj.Name() + "." + f.Name()
		e.function(name, goapi.Method, f, f.Signature())
		key := e.source.path + "." + name
		entry := e.out.Entries[key]
		entry.Value = values.Lookup(f.Pkg(), f.Name()) != nil
		e.out.Entries[key] = entry
	}
}

// maxEmbedded bounds how deep embedded structs are followed.
const maxEmbedded = 5

// fields lists the exported fields of a struct, those of embedded ones included.
func (e *emitter) fields(of string, s *types.Struct, depth int, seen map[string]bool) {
	var embedded []*types.Struct
	for i := range s.NumFields() {
		f := s.Field(i)
		if under, ok := pointed(f.Type()).Underlying().(*types.Struct); f.Embedded() && ok && depth < maxEmbedded {
			embedded = append(embedded, under)
		}
		if !f.Exported() || seen[f.Name()] {
			continue
		}
		seen[f.Name()] = true
		form := text(f.Type())
		if f.Embedded() {
			form = "embedded " + form
		}
		e.put(of+"."+f.Name(), goapi.Entry{Kind: goapi.Field, Text: form, Shape: form, Tag: s.Tag(i)}, f)
	}
	for _, one := range embedded {
		e.fields(of, one, depth+1, seen)
	}
}

func pointed(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// shape is the text of a type without the names of the parameters of a signature.
func shape(t types.Type) string {
	s, ok := t.(*types.Signature)
	if !ok {
		return text(t)
	}
	bare := func(of *types.Tuple) *types.Tuple {
		var list []*types.Var
		for v := range of.Variables() {
			list = append(list, types.NewParam(0, nil, "", v.Type()))
		}
		return types.NewTuple(list...)
	}
	return text(types.NewSignatureType(nil, nil, nil, bare(s.Params()), bare(s.Results()), s.Variadic())) + constraints(s.TypeParams())
}

// constraints are what type parameters must fulfil, in order.
func constraints(list *types.TypeParamList) string {
	var b strings.Builder
	for p := range list.TypeParams() {
		b.WriteString(" [" + p.Obj().Name() + " " + text(p.Constraint()) + "]")
	}
	return b.String()
}

// unions are the sets of types that an interface names beside methods.
func unions(i *types.Interface) string {
	var b strings.Builder
	for em := range i.EmbeddedTypes() {
		if !types.IsInterface(em) {
			b.WriteString(" " + text(em))
		}
	}
	return b.String()
}

// written is what the source says of an object, without bodies and comments.
func (e *emitter) written(obj types.Object) string {
	at := obj.Pos()
	for _, f := range e.source.files {
		if at < f.FileStart || at > f.FileEnd {
			continue
		}
		var found ast.Node
		ast.Inspect(f, func(n ast.Node) bool {
			if n == nil || at < n.Pos() || at >= n.End() {
				return false
			}
			switch n := n.(type) {
			case *ast.FuncDecl:
				found = &ast.FuncDecl{Recv: n.Recv, Name: n.Name, Type: n.Type}
				return false
			case *ast.Field, *ast.ValueSpec, *ast.TypeSpec:
				found = n
			}
			return true
		})
		var b bytes.Buffer
		if field, ok := found.(*ast.Field); ok {
			found = field.Type
		}
		if found == nil || printer.Fprint(&b, e.fset, found) != nil {
			return "?"
		}
		return strings.Join(strings.Fields(b.String()), " ")
	}
	return "?"
}
