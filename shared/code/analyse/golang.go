package analyse

import (
	"go/ast"
	"go/parser"
	"go/token"

	"leasehold/shared/code"
)

// parseGo returns the symbols and the functions of a Go file. Of a file that does not parse it
// returns the functions of the part that does, and the symbols that rules find. Without a package
// clause it returns nothing.
func parseGo(content []byte) ([]code.Symbol, []code.FunctionReport) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "x.go", content, parser.SkipObjectResolution)
	if file == nil || fset.File(file.FileStart) == nil { // not even a package clause
		return nil, nil
	}
	g := goFile{content: content, file: fset.File(file.FileStart), pkg: file.Name.Name}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			g.addFunction(d)
		case *ast.GenDecl:
			g.addDeclaration(d)
		}
	}
	if err != nil { // the part that does not parse has symbols too
		g.symbols = bySimpleRules("Go", content)
	}
	return g.symbols, g.functions
}

// goFile collects what a Go file defines.
type goFile struct {
	content   []byte
	file      *token.File
	pkg       string
	symbols   []code.Symbol
	functions []code.FunctionReport
}

// line returns the line of a position, without regard to //line comments. A position outside of
// the file, which a broken file may have, is in line 1.
func (g *goFile) line(p token.Pos) int {
	if int(p) < g.file.Base() || int(p) > g.file.Base()+g.file.Size() {
		return 1
	}
	return g.file.PositionFor(p, false).Line
}

// source returns the text between two positions as oneLine does; "" for positions that a broken
// file has in the wrong order or outside.
func (g *goFile) source(from, to token.Pos) string {
	first, last := int(from)-g.file.Base(), int(to)-g.file.Base()
	if first < 0 || last > len(g.content) || first > last {
		return ""
	}
	return oneLine(string(g.content[first:min(last, first+4*maxSignature)]))
}

// addSymbol adds the symbol of name, which node defines. It adds none for a missing or blank name,
// or past maxSymbols.
func (g *goFile) addSymbol(name *ast.Ident, kind, scope string, node ast.Node, signature string) {
	if name == nil || name.Name == "_" || name.Name == "" || len(g.symbols) >= maxSymbols {
		return
	}
	first := g.line(name.Pos())
	g.symbols = append(g.symbols, code.Symbol{
		Name: name.Name, Kind: kind, Scope: scope, Line: first, End: max(first, g.line(node.End()-1)), Signature: signature,
	})
}

// addFunction adds the symbol of a function or method and, if it has a body, its report. The
// signature ends before the body. Beyond maxFunctions there are no more reports.
func (g *goFile) addFunction(d *ast.FuncDecl) {
	end := d.End()
	if d.Body != nil {
		end = d.Body.Lbrace
	}
	kind, scope := "func", g.pkg
	receiver := receiverName(d)
	if d.Recv != nil {
		kind, scope = "method", receiver
	}
	g.addSymbol(d.Name, kind, scope, d, g.source(d.Pos(), end))
	if d.Body == nil || len(g.functions) >= maxFunctions {
		return
	}
	report := measure(d.Body)
	report.Line, report.Function, report.Receiver = g.line(d.Name.Pos()), d.Name.Name, receiver
	g.functions = append(g.functions, report)
}

// receiverName returns the name of the type of a method's receiver, without pointer and type
// parameters; empty for a function, and for a receiver other than a type name.
func receiverName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// addDeclaration adds the types, constants and variables of a declaration; imports define none.
func (g *goFile) addDeclaration(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			g.addType(spec)
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				g.addSymbol(name, d.Tok.String(), g.pkg, spec, g.source(spec.Pos(), spec.End()))
			}
		}
	}
}

// addType adds a type, and as symbols of their own the fields of a struct or the methods of an
// interface. Embedded types have no name, so they are left out.
func (g *goFile) addType(spec *ast.TypeSpec) {
	kind := "type"
	var members *ast.FieldList
	memberKind := "field"
	switch t := spec.Type.(type) {
	case *ast.StructType:
		kind, members = "struct", t.Fields
	case *ast.InterfaceType:
		kind, members, memberKind = "interface", t.Methods, "method"
	}
	signature := "type " + spec.Name.Name
	if members == nil {
		signature = "type " + g.source(spec.Pos(), spec.End())
	} else {
		signature += " " + kind
	}
	g.addSymbol(spec.Name, kind, g.pkg, spec, signature)
	if members == nil {
		return
	}
	for _, field := range members.List {
		for _, name := range field.Names {
			g.addSymbol(name, memberKind, spec.Name.Name, field, g.source(name.Pos(), field.Type.End()))
		}
	}
}
