package extract

import (
	"bytes"
	"go/ast"
	"go/constant"
	"go/printer"
	"go/token"
	"go/types"
	"regexp"
	"strings"
)

// logNames are names of functions and methods that log, in the standard library, zap, zerolog, logrus, glog and their likes, and in what
// projects make of them.
var logNames = regexp.MustCompile(`^(?i:(must)?(log|logf|logln|debug|info|warn|warning|error|fatal|panic|trace|notice|critical|verbose|print|output)(f|w|ln|s|context|depth|ctx|attrs|p)*)$|^(Msg|Msgf|Send|LogAttrs|Log[A-Z]\w*)$`)

// formNames are what decides the form of a line: flags, prefixes, handlers, formatters, names of loggers.
var formNames = regexp.MustCompile(`^(SetFlags|SetPrefix|SetOutput|SetLevel|SetFormatter|SetReportCaller|SetDefault|SetLogLoggerLevel|NewTextHandler|NewJSONHandler|NewHandler|NewLogger|NewEncoderConfig|` +
	`NewProductionConfig|NewDevelopmentConfig|NewProduction|NewDevelopment|NewProductionEncoderConfig|NewDevelopmentEncoderConfig|NewJSONEncoder|NewConsoleEncoder|NewCore|ReplaceGlobals|Named|WithGroup|WithName|AddHook|` +
	`WithField|WithFields|WithPrefix)$`)

// logPackages are packages whose New and With make loggers, and whose fields and literals decide the form of a line.
var logPackages = regexp.MustCompile(`(^|/)(log|slog|zap|zapcore|zerolog|logrus|glog|klog|logr|hclog|lager|log15)(/v[0-9]+)?(/|$)`)

// makers are methods by which a type takes part in the forming of lines.
var makers = map[string]bool{"Handle": true, "Format": true, "WithAttrs": true, "WithGroup": true, "LogValue": true, "MarshalLogObject": true, "MarshalLogArray": true, "MarshalZerologObject": true, "EncodeEntry": true, "Fire": true, "Levels": true, "ReplaceAttr": true}

// logs finds the calls that log in all packages of the tree, internal ones and programs included.
func (t *tree) logs() {
	t.out.Logs, t.out.Forms, t.out.Makers = map[string]int{}, map[string]int{}, map[string]string{}
	wrappers := t.wrappers()
	for _, dir := range t.sorted() {
		s := t.dirs[dir]
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
		config := types.Config{FakeImportC: true, DisableUnusedImportCheck: true, Importer: importer{t}, Error: func(error) {}}
		for _, f := range s.files {
			t.declare(f)
		}
		_, _ = config.Check(s.path, t.fset, s.files, info) // what is not known stands as written
		for _, f := range s.files {
			l := logFinder{t, info, importsOf(f), wrappers}
			for _, d := range f.Decls {
				ast.Inspect(d, l.visit)
				if m, ok := d.(*ast.FuncDecl); ok && m.Recv != nil && makers[m.Name.Name] && m.Body != nil {
					t.out.Makers[s.path+"."+l.text(m.Recv.List[0].Type)+"."+m.Name.Name] = l.text(m.Body)
				}
			}
		}
	}
}

// importsOf are the paths of a file's imports by the names that it gives them.
func importsOf(f *ast.File) map[string]string {
	imports := map[string]string{}
	for _, spec := range f.Imports {
		of := strings.Trim(spec.Path.Value, "\"`")
		name := usualName(of)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imports[name] = of
	}
	return imports
}

type logFinder struct {
	*tree
	info    *types.Info
	imports map[string]string
	// wrappers are functions of the tree that hand an argument on to a call that logs.
	wrappers map[string]bool
}

// maxRounds bounds how often wrappers of wrappers are looked for.
const maxRounds = 4

// wrappers finds the names of functions that log what they are given.
func (t *tree) wrappers() map[string]bool {
	found := map[string]bool{}
	for range maxRounds {
		before := len(found)
		for _, s := range t.dirs {
			for _, f := range s.files {
				for _, d := range f.Decls {
					if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil && !found[d.Name.Name] && handsOn(d, found) {
						found[d.Name.Name] = true
					}
				}
			}
		}
		if len(found) == before {
			break
		}
	}
	return found
}

// handsOn says that a function calls one that logs with one of its own parameters.
func handsOn(d *ast.FuncDecl, wrappers map[string]bool) bool {
	params := map[string]bool{}
	for _, p := range d.Type.Params.List {
		for _, name := range p.Names {
			params[name.Name] = true
		}
	}
	hands := false
	ast.Inspect(d.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || hands {
			return !hands
		}
		name := ""
		switch fun := call.Fun.(type) {
		case *ast.Ident:
			name = fun.Name
		case *ast.SelectorExpr:
			name = fun.Sel.Name
			if x, ok := fun.X.(*ast.Ident); ok && x.Name == "fmt" {
				return true
			}
		}
		if logNames.MatchString(name) && name != "panic" && name != "print" || wrappers[name] {
			for _, a := range call.Args {
				ast.Inspect(a, func(n ast.Node) bool {
					id, ok := n.(*ast.Ident)
					hands = hands || ok && params[id.Name]
					return !hands
				})
			}
		}
		return !hands
	})
	return hands
}

func (l logFinder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		name, of := l.callee(n.Fun)
		switch {
		case name == "Error" && len(n.Args) == 0: // the method of errors
		case formNames.MatchString(name), (name == "New" || name == "With") && logPackages.MatchString(of):
			l.out.Forms[of+"."+name+l.args(n.Args)]++
		case (logNames.MatchString(name) || l.wrappers[name]) && of != "fmt" && of != "testing" && of != "builtin":
			l.out.Logs[of+"."+name+l.args(n.Args)]++
		}
	case *ast.CompositeLit:
		if sel, ok := n.Type.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && logPackages.MatchString(l.imports[x.Name]) {
				l.out.Forms[l.text(n)]++
			}
		}
	case *ast.AssignStmt:
		for _, left := range n.Lhs {
			if sel, ok := left.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && logPackages.MatchString(l.imports[x.Name]) {
					l.out.Forms[l.text(n)]++
				}
			}
		}
	}
	return true
}

// callee is the name of what a call calls, and what that is of: the path of a package, or the expression before the name.
func (l logFinder) callee(fun ast.Expr) (name, of string) {
	switch fun := fun.(type) {
	case *ast.Ident:
		if fun.Name == "panic" || fun.Name == "print" || fun.Name == "println" {
			return fun.Name, "builtin"
		}
		return fun.Name, ""
	case *ast.SelectorExpr:
		if x, ok := fun.X.(*ast.Ident); ok && l.imports[x.Name] != "" {
			return fun.Sel.Name, l.imports[x.Name]
		}
		if t := l.info.Types[fun.X].Type; t != nil && !strings.Contains(text(t), "invalid type") {
			return fun.Sel.Name, text(t)
		}
		if x, ok := fun.X.(*ast.SelectorExpr); ok { // a field of what is not known
			return fun.Sel.Name, x.Sel.Name
		}
		return fun.Sel.Name, l.text(fun.X)
	}
	return "", ""
}

// args are arguments in one form, constants by their value.
func (l logFinder) args(list []ast.Expr) string {
	var parts []string
	for _, a := range list {
		parts = append(parts, l.text(a))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// text is a node in one form, without line breaks.
func (l logFinder) text(n ast.Node) string {
	if e, ok := n.(ast.Expr); ok {
		if v := l.info.Types[e].Value; v != nil {
			if v.Kind() == constant.String {
				return v.ExactString()
			}
			return v.String()
		}
	}
	var b bytes.Buffer
	if printer.Fprint(&b, token.NewFileSet(), n) != nil {
		return "?"
	}
	form := strings.Join(strings.Fields(b.String()), " ")
	return strings.NewReplacer("( ", "(", " )", ")", ", )", ")", "{ ", "{", " }", "}", ", }", "}").Replace(form)
}
