package archtest

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// longEnough is the length in lines from which a function without a comment is listed.
const longEnough = 10

// These tests only print (go test -v), because each entry needs judgement: a name
// may be exported for the users of a library, and a long function may be plain.

func TestListFunctionsWithoutAComment(t *testing.T) {
	t.Parallel()
	bare := make(map[string][]string)
	total := 0
	for _, s := range tree(t) {
		if s.test() {
			continue
		}
		for _, d := range s.ast.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil || f.Doc != nil || s.line(f.End())-s.line(f.Pos())+1 < longEnough {
				continue
			}
			total++
			bare[path.Dir(s.path)] = append(bare[path.Dir(s.path)], fmt.Sprintf("%s:%d %s", path.Base(s.path), s.line(f.Pos()), f.Name.Name))
		}
	}
	t.Logf("%d functions of %d lines or more have no comment", total, longEnough)
	for _, dir := range slices.Sorted(maps.Keys(bare)) {
		t.Logf("  %s %d: %s", dir, len(bare[dir]), strings.Join(bare[dir], ", "))
	}
}

// TestListCodeLines prints the lines of Go, tests aside, that hold more than
// blanks and comments.
func TestListCodeLines(t *testing.T) {
	t.Parallel()
	lines := make(map[string]int)
	total := 0
	for _, s := range tree(t) {
		if s.test() {
			continue
		}
		text, err := os.ReadFile(filepath.Join("../..", s.path))
		require.NoError(t, err)
		n := codeLines(text)
		lines[path.Dir(s.path)] += n
		total += n
	}
	t.Logf("%d lines of code", total)
	for _, dir := range slices.Sorted(maps.Keys(lines)) {
		t.Logf("  %6d %s", lines[dir], dir)
	}
}

func codeLines(text []byte) int {
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0) // comments are skipped
	with := make(map[int]bool)
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return len(with)
		}
		if tok == token.SEMICOLON && literal == "\n" {
			continue
		}
		first := file.Line(pos)
		for i, part := range strings.Split(literal, "\n") {
			if part != "" || tok != token.STRING { // blanks inside a raw string
				with[first+i] = true
			}
		}
	}
}

// TestListExportedNamesThatNoOtherPackageUses prints the names that could be
// unexported. Users are other packages, external tests among them. Left out are
// types that an exported function, field or variable mentions, methods that an
// interface of ours has or that another package calls on any type, and fields,
// because encoders use them without naming them.
func TestListExportedNamesThatNoOtherPackageUses(t *testing.T) {
	t.Parallel()
	e := exports{used: make(map[string]bool), selected: make(map[string][]string), mentioned: make(map[string]bool)}
	for _, s := range tree(t) {
		e.readUses(s)
	}
	for _, s := range tree(t) {
		if s.test() || s.ast.Name.Name == "main" {
			continue
		}
		for _, d := range s.ast.Decls {
			e.readDecl(path.Dir(s.path), d)
		}
	}
	unused := slices.DeleteFunc(slices.Sorted(slices.Values(e.names)), func(name string) bool { return e.used[name] || e.mentioned[name] })
	for _, m := range e.methods {
		dir, method, _ := strings.Cut(m, ".")
		name := method[strings.Index(method, ".")+1:]
		if !slices.ContainsFunc(e.selected[name], func(user string) bool { return user != dir }) {
			unused = append(unused, m)
		}
	}
	t.Logf("%d exported names and %d methods; %d that no other package uses:", len(e.names), len(e.methods), len(unused))
	for _, name := range unused {
		t.Log("  " + name)
	}
}

// exports are the exported names of the tree and their uses.
type exports struct {
	names     []string            // folder.Name
	methods   []string            // folder.Type.Method
	used      map[string]bool     // folder.Name, selected from an import
	selected  map[string][]string // by name, the packages that select it or have it in an interface ("")
	mentioned map[string]bool     // folder.Name, in an exported signature
}

func (e *exports) readUses(s source) {
	imports := make(map[string]string) // folder by the name in this file
	for _, i := range s.ast.Imports {
		importPath, _ := strconv.Unquote(i.Path.Value)
		dir, mine := ours(importPath)
		if !mine {
			continue
		}
		name := path.Base(dir)
		if i.Name != nil {
			name = i.Name.Name
		}
		imports[name] = dir
	}
	user := path.Dir(s.path)
	if strings.HasSuffix(s.ast.Name.Name, "_test") {
		user += "_test"
	}
	ast.Inspect(s.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && imports[x.Name] != "" {
				e.used[imports[x.Name]+"."+n.Sel.Name] = true
			} else {
				e.selected[n.Sel.Name] = append(e.selected[n.Sel.Name], user)
			}
		case *ast.InterfaceType:
			for _, method := range n.Methods.List {
				for _, name := range method.Names {
					e.selected[name.Name] = append(e.selected[name.Name], "")
				}
			}
		}
		return true
	})
}

// readDecl adds the names that d exports, and the identifiers of its signature.
func (e *exports) readDecl(dir string, d ast.Decl) {
	mention := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if ident, ok := n.(*ast.Ident); ok {
				e.mentioned[dir+"."+ident.Name] = true
			}
			return true
		})
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if !d.Name.IsExported() || !exportedReceiver(d) {
			return
		}
		mention(d.Type)
		if d.Recv == nil {
			e.names = append(e.names, dir+"."+d.Name.Name)
		} else if receiver := receiverName(d); receiver != "" {
			e.methods = append(e.methods, dir+"."+receiver+"."+d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() {
					e.names = append(e.names, dir+"."+spec.Name.Name)
					mention(spec.Type)
				}
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					if name.IsExported() {
						e.names = append(e.names, dir+"."+name.Name)
					}
				}
				if spec.Type != nil && spec.Names[0].IsExported() {
					mention(spec.Type)
				}
			}
		}
	}
}

func receiverName(f *ast.FuncDecl) string {
	typ := f.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if index, ok := typ.(*ast.IndexExpr); ok {
		typ = index.X
	}
	if name, ok := typ.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}
