package archtest

import (
	"go/ast"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	t.Parallel()
	docs := make(map[string]int) // folder: lines of its package comment
	for _, s := range tree(t) {
		dir := path.Dir(s.path)
		docs[dir] += 0
		if s.ast.Doc != nil {
			docs[dir] += strings.Count(s.ast.Doc.Text(), "\n")
		}
	}
	for dir, lines := range docs {
		if lines == 0 {
			t.Errorf("%s: no package comment: say in 5 to 40 lines what it is for, what it keeps, and what it does not do", dir)
		}
		if lines > 60 {
			t.Logf("%s: a package comment of %d lines", dir, lines)
		}
	}
}

func TestEveryExportedNameSaysWhatIsPromised(t *testing.T) {
	t.Parallel()
	for _, s := range tree(t) {
		if s.test() || s.ast.Name.Name == "main" {
			continue
		}
		for _, d := range s.ast.Decls {
			for _, name := range undocumented(d) {
				t.Errorf("%s:%d: %s has no comment", s.path, s.line(d.Pos()), name)
			}
		}
	}
}

// undocumented lists the exported names of d without a comment of their own or
// of their group. Methods of an unexported type count too only if they are of an
// exported one.
func undocumented(d ast.Decl) []string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) {
			return []string{d.Name.Name}
		}
	case *ast.GenDecl:
		if d.Doc != nil {
			return nil
		}
		var names []string
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Doc == nil && spec.Comment == nil && spec.Name.IsExported() {
					names = append(names, spec.Name.Name)
				}
			case *ast.ValueSpec:
				if spec.Doc == nil && spec.Comment == nil && spec.Names[0].IsExported() {
					names = append(names, spec.Names[0].Name)
				}
			}
		}
		return names
	}
	return nil
}

// wellKnown methods are promised by the interface that they satisfy.
var wellKnown = []string{"Error", "Unwrap", "Is", "String", "Len", "Less", "Swap", "Push", "Pop",
	"Read", "Write", "Close", "ReadAt", "ServeHTTP", "MarshalJSON", "UnmarshalJSON"}

func exportedReceiver(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return true
	}
	if slices.Contains(wellKnown, f.Name.Name) {
		return false
	}
	typ := f.Recv.List[0].Type
	for {
		switch t := typ.(type) {
		case *ast.StarExpr:
			typ = t.X
		case *ast.IndexExpr:
			typ = t.X
		case *ast.Ident:
			return t.IsExported()
		default:
			return false
		}
	}
}

// A ban is a call that has no place in some files.
type ban struct {
	call   string
	in     func(s source) bool
	reason string
}

var bans = []ban{
	{"os.Exit", library, "only main ends the process: return an error"},
	{"log.Fatal", library, "only main ends the process: return an error"},
	{"log.Fatalf", library, "only main ends the process: return an error"},
	{"log.Fatalln", library, "only main ends the process: return an error"},
	{"time.Sleep", source.test, "a test waits for what it waits for, or runs under synctest"},
	{"t.Skip", source.test, "a skipped test is a hole"},
	{"t.Skipf", source.test, "a skipped test is a hole"},
	{"t.SkipNow", source.test, "a skipped test is a hole"},
}

// library is what is neither a test nor the program.
func library(s source) bool { return !s.test() && s.ast.Name.Name != "main" }

func TestNoCallIsOutOfPlace(t *testing.T) {
	t.Parallel()
	panics := allowed(t) // and whether it was met
	for _, s := range tree(t) {
		calls(s, func(where, call string, line int) {
			for _, b := range bans {
				if call == b.call && b.in(s) && !bubbled(s) {
					t.Errorf("%s:%d: %s: %s", s.path, line, call, b.reason)
				}
			}
			if call != "panic" || s.test() {
				return
			}
			key := s.path + " " + where
			if _, ok := panics[key]; ok {
				panics[key] = true
			} else {
				t.Errorf("%s:%d: %s panics: return an error, or say in internal/archtest/panics.txt why it may (%q)", s.path, line, where, key)
			}
		})
	}
	for key, met := range panics {
		if !met {
			t.Errorf("panics.txt: %s does not panic any more: take the line away", key)
		}
	}
}

// bubbled reports whether a file of tests runs them under synctest, where to
// sleep takes no time.
func bubbled(s source) bool {
	return s.test() && slices.ContainsFunc(s.ast.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing/synctest"` })
}

// calls tells visit of each plain call in s, and of the function it is in.
func calls(s source, visit func(where, call string, line int)) {
	for _, d := range s.ast.Decls {
		where := "(package)"
		if f, ok := d.(*ast.FuncDecl); ok {
			where = f.Name.Name
		}
		ast.Inspect(d, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			switch f := c.Fun.(type) {
			case *ast.Ident:
				visit(where, f.Name, s.line(c.Pos()))
			case *ast.SelectorExpr:
				if x, ok := f.X.(*ast.Ident); ok {
					visit(where, x.Name+"."+f.Sel.Name, s.line(c.Pos()))
				}
			}
			return true
		})
	}
}

// allowed reads panics.txt: FILE FUNCTION, then why after a #.
func allowed(t *testing.T) map[string]bool {
	t.Helper()
	data, err := os.ReadFile("panics.txt")
	require.NoError(t, err)
	list := make(map[string]bool)
	for line := range strings.Lines(string(data)) {
		entry, why, _ := strings.Cut(line, "#")
		entry = strings.TrimSpace(entry)
		if entry == "" {
			continue
		}
		require.NotEmpty(t, strings.TrimSpace(why), "panics.txt: %s: say why after a #", entry)
		list[entry] = false
	}
	return list
}

func TestNothingIsLeftForLater(t *testing.T) {
	t.Parallel()
	for _, s := range tree(t) {
		if path.Dir(s.path) == "internal/archtest" {
			continue
		}
		for _, group := range s.ast.Comments {
			for _, word := range []string{"TODO", "FIXME"} {
				if strings.Contains(group.Text(), word) {
					t.Errorf("%s:%d: %s: do it, or file an issue", s.path, s.line(group.Pos()), word)
				}
			}
		}
	}
}
