package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// mutant is one change of one file: the text from one offset to another is replaced.
type mutant struct {
	file     string
	line     int
	what     string // the kind of the change
	from, to int
	text     string
	switched []edit // make the same change at run time, if the mutant is on
}

// swapped is what each comparison or connective becomes.
var swapped = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
}

// withoutEffect is a statement that is not dropped, because no test should fail for it: it only
// logs, stops a ticker or a timer at the end of a function, which the garbage collector frees
// anyway, is a place at which tests of crashes end the process, or gives a slice its capacity.
var withoutEffect = regexp.MustCompile(`^([\w.]*[lL]og\.(Debug|Info|Warn|Error|Log)\w*\(|defer \w*(tick|ticker|timer)\.Stop\(\)|failpoint\.Reached\(|[\w.]+ = make\(\[\][\w.*]+, 0, )`)

// finder collects the mutants of one file.
type finder struct {
	set     *token.FileSet
	file    string
	source  []byte
	limits  []*ast.GenDecl // declarations of constants
	unused  []ast.Expr     // their numbers have no effect
	mutants []mutant
}

// findMutants returns all mutants of a file in the order of its text. Some of them do not
// compile, for example because nothing uses a variable then. It fails if the file cannot be parsed.
func findMutants(file string, source []byte) ([]mutant, error) {
	f := finder{set: token.NewFileSet(), file: file, source: source}
	parsed, err := parser.ParseFile(f.set, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			f.addNilErrors(n.Type, n.Body)
		case *ast.FuncLit:
			f.addNilErrors(n.Type, n.Body)
		case *ast.IfStmt:
			f.addNegation(n.Cond)
		case *ast.BinaryExpr:
			f.addSwap(n)
		case *ast.GenDecl:
			if n.Tok == token.CONST {
				f.limits = append(f.limits, n)
			}
		case *ast.CallExpr:
			if f.textOf(n.Fun) == "make" && len(n.Args) == 3 { // the capacity
				f.unused = append(f.unused, n.Args[2])
			}
		case *ast.ReturnStmt:
			f.leaveValuesOfErrors(n)
		case *ast.BasicLit:
			if n.Kind == token.INT && !f.isLimit(n) && !f.isUnused(n) {
				f.addMutant("constant + 1", n.Pos(), n.End(), "("+n.Value+" + 1)", f.wrap(n, "(", " + mutantStep#())")...)
				f.addMutant("constant - 1", n.Pos(), n.End(), "("+n.Value+" - 1)", f.wrap(n, "(", " - mutantStep#())")...)
			}
		case *ast.BranchStmt:
			f.addBranchSwap(n)
		case *ast.BlockStmt:
			f.addDrops(n.List)
		case *ast.CaseClause:
			f.addDrops(n.Body)
		case *ast.CommClause:
			f.addDrops(n.Body)
		}
		return true
	})
	slices.SortStableFunc(f.mutants, func(a, b mutant) int { return a.from - b.from })
	return f.mutants, nil
}

// addMutant adds a mutant that replaces the text between two positions, or does so when it is on.
func (f *finder) addMutant(what string, from, to token.Pos, text string, switched ...edit) {
	at := f.set.Position(from)
	f.mutants = append(f.mutants, mutant{f.file, at.Line, what, at.Offset, f.set.Position(to).Offset, text, switched})
}

// addSwap adds a mutant with the other operator (swapped) of a comparison, && or ||. The tests run one
// binary that has all mutants: there mutant(#), with the mutant's number for #, is true while it is on,
// and each expression is written so that it then has the other result. mutantLess and mutantMore compare
// their last two arguments; the first is whether equal ones count.
func (f *finder) addSwap(n *ast.BinaryExpr) {
	other, ok := swapped[n.Op]
	if !ok {
		return
	}
	end := n.OpPos + token.Pos(len(n.Op.String()))
	var switched []edit
	switch n.Op {
	case token.EQL, token.NEQ:
		switched = f.wrap(n, "((", ") != mutant(#))")
	case token.LAND, token.LOR: // x || y is !(!x && !y)
		switched = slices.Concat(f.wrap(n, "(", " != mutant(#))"), f.wrap(n, "(", ")"), f.wrap(n.X, "(", ") != mutant(#)"), f.wrap(n.Y, "(", ") != mutant(#)"))
	default:
		compare := map[token.Token]string{token.LSS: "mutantLess(", token.LEQ: "mutantLess(!", token.GTR: "mutantMore(", token.GEQ: "mutantMore(!"}
		switched = append(f.wrap(n, compare[n.Op]+"mutant(#), ", ")"), edit{f.set.Position(n.OpPos).Offset, f.set.Position(end).Offset, ",", replaces}) // a < b is mutantLess(…, a, b)
	}
	f.addMutant("operator swapped", n.OpPos, end, other.String(), switched...)
}

// wrap returns the edits that put text around a node.
func (f *finder) wrap(n ast.Node, before, after string) []edit {
	from, to := f.set.Position(n.Pos()).Offset, f.set.Position(n.End()).Offset
	return []edit{{from, from, before, opens}, {to, to, after, closes}}
}

// isLimit reports whether a number is of a constant that was chosen, such as a limit of 1000
// items, so that 1001 would do as well: a test that notices would only repeat the number.
func (f *finder) isLimit(n *ast.BasicLit) bool {
	return (len(n.Value) > 1) && slices.ContainsFunc(f.limits, func(d *ast.GenDecl) bool { return d.Pos() <= n.Pos() && n.End() <= d.End() })
}

// isUnused reports whether a number has no effect: it is the capacity of a slice, or a result beside an
// error, which callers do not use.
func (f *finder) isUnused(n *ast.BasicLit) bool {
	return slices.ContainsFunc(f.unused, func(e ast.Expr) bool { return e.Pos() <= n.Pos() && n.End() <= e.End() })
}

// leaveValuesOfErrors adds to unused the numbers that a return has beside an error.
func (f *finder) leaveValuesOfErrors(n *ast.ReturnStmt) {
	if len(n.Results) < 2 {
		return
	}
	others, last := n.Results[:len(n.Results)-1], n.Results[len(n.Results)-1]
	for _, other := range others {
		if _, isNumber := other.(*ast.BasicLit); isNumber && isError.MatchString(f.textOf(last)) {
			f.unused = append(f.unused, other)
		}
	}
}

// isError matches the usual expressions of an error. The variable err may be nil, so that a few numbers that
// callers do use are left out too.
var isError = regexp.MustCompile(`^(err|\w*Err|(fmt\.Errorf|errors\.New)\()`)

func (f *finder) textOf(n ast.Node) string {
	return string(f.source[f.set.Position(n.Pos()).Offset:f.set.Position(n.End()).Offset])
}

// addNegation adds a mutant that negates the condition of an if, unless swapping its operator does
// the same.
func (f *finder) addNegation(cond ast.Expr) {
	if b, ok := cond.(*ast.BinaryExpr); ok && (b.Op == token.EQL || b.Op == token.NEQ) {
		return
	}
	f.addMutant("condition negated", cond.Pos(), cond.End(), "!("+f.textOf(cond)+")", f.wrap(cond, "((", ") != mutant(#))")...)
}

// addBranchSwap adds a mutant that makes continue of break, or break of continue.
func (f *finder) addBranchSwap(n *ast.BranchStmt) {
	other := map[token.Token]string{token.CONTINUE: "break", token.BREAK: "continue"}[n.Tok]
	if other == "" {
		return
	}
	end := n.TokPos + token.Pos(len(n.Tok.String()))
	label := strings.TrimPrefix(f.textOf(n), n.Tok.String())
	f.addMutant(n.Tok.String()+" made "+other, n.TokPos, end, other, f.wrap(n, "if mutant(#) { "+other+label+" } else { ", " }")...)
}

// addDrops adds, for each statement that has an effect of its own, a mutant without it. Line breaks
// stay, so that the lines of all else keep their numbers. Declarations stay, because without them
// most mutants would not compile.
func (f *finder) addDrops(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE || withoutEffect.MatchString(f.textOf(s)) {
				continue
			}
		case *ast.ExprStmt, *ast.DeferStmt:
			if withoutEffect.MatchString(f.textOf(s)) {
				continue
			}
		case *ast.IncDecStmt, *ast.BranchStmt, *ast.ReturnStmt, *ast.SendStmt:
		default:
			continue
		}
		f.addMutant("statement dropped", s.Pos(), s.End(), strings.Repeat("\n", strings.Count(f.textOf(s), "\n")),
			f.wrap(s, "if !mutant(#) { ", " }")...)
	}
}

// addNilErrors adds a mutant that makes nil of each error that a function returns as its last
// result. The returns of functions inside it are their own, and a return that passes on all results
// of one call is left.
func (f *finder) addNilErrors(of *ast.FuncType, body *ast.BlockStmt) {
	if of.Results == nil || body == nil {
		return
	}
	last, ok := of.Results.List[len(of.Results.List)-1].Type.(*ast.Ident)
	if !ok || last.Name != "error" {
		return
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) != of.Results.NumFields() {
				return true
			}
			if result := n.Results[len(n.Results)-1]; f.textOf(result) != "nil" {
				f.addMutant("error made nil", result.Pos(), result.End(), "nil", f.wrap(result, "mutantError(mutant(#), func() error { return ", " })")...)
			}
		}
		return true
	})
}

// apply returns the source with the change.
func (m mutant) apply(source []byte) []byte {
	return slices.Concat(source[:m.from], []byte(m.text), source[m.to:])
}

// diff returns the changed lines of source before (-) and after (+) the mutation, without empty
// ones.
func (m mutant) diff(source []byte) string {
	begin := bytes.LastIndexByte(source[:m.from], '\n') + 1
	end := len(source)
	if i := bytes.IndexByte(source[m.to:], '\n'); i >= 0 {
		end = m.to + i
	}
	after := string(source[begin:m.from]) + m.text + string(source[m.to:end])
	var b strings.Builder
	for _, side := range []struct{ sign, text string }{{"-", string(source[begin:end])}, {"+", after}} {
		for line := range strings.SplitSeq(side.text, "\n") {
			if strings.TrimSpace(line) != "" {
				fmt.Fprintf(&b, "    %s %s\n", side.sign, line)
			}
		}
	}
	return b.String()
}
