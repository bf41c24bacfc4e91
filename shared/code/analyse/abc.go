package analyse

import (
	"go/ast"
	"go/token"
	"math"

	"leasehold/shared/code"
)

// measure counts assignments, branches and conditions of a function's body, with the
// function literals in it:
//
//   - A: each variable that =, :=, an operator such as +=, ++, --, range, or a declaration
//     with a value assigns; the blank identifier does not count.
//   - B: each call, also of go and defer, and goto. Calls of predeclared functions that
//     compile to no call (len, cap, new, make, …) count too, because they read as calls; a
//     conversion to a predeclared or literal type, such as string(x), does not.
//   - C: each comparison (== != < <= > >=), each && and ||, each !, each else, and each
//     case and default of switch and select.
//
// ABCSeed counts as the original indexer did: A one for each assignment statement, ++ and
// --; B each call, with conversions; C each if, for, case and comparison, without else.
func measure(body *ast.BlockStmt) code.FunctionReport {
	var r code.FunctionReport
	var seedA, seedB, seedC int
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			r.A += assigned(n.Lhs...)
			seedA++
		case *ast.IncDecStmt:
			r.A++
			seedA++
		case *ast.RangeStmt:
			if n.Tok != token.ILLEGAL {
				r.A += assigned(n.Key, n.Value)
			}
			seedC++
		case *ast.ForStmt:
			seedC++
		case *ast.GenDecl:
			r.A += declared(n)
		case *ast.CallExpr:
			seedB++
			if !isConversion(n.Fun) {
				r.B++
			}
		case *ast.BranchStmt:
			if n.Tok == token.GOTO {
				r.B++
			}
		case *ast.IfStmt:
			seedC++
			if n.Else != nil {
				r.C++
			}
		case *ast.CaseClause, *ast.CommClause:
			r.C++
			seedC++
		case *ast.UnaryExpr:
			if n.Op == token.NOT {
				r.C++
			}
		case *ast.BinaryExpr:
			switch n.Op {
			case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
				r.C++
				seedC++
			case token.LAND, token.LOR:
				r.C++
			}
		}
		return true
	})
	r.Score, r.ABCSeed = vectorLength(r.A, r.B, r.C), vectorLength(seedA, seedB, seedC)
	return r
}

// vectorLength returns the length of a vector, rounded to two places.
func vectorLength(a, b, c int) float64 {
	return math.Round(100*math.Sqrt(float64(a*a+b*b+c*c))) / 100
}

// assigned counts the operands that are assigned. The blank identifier does not count, nor does
// nil, which a range statement has for an operand left out.
func assigned(operands ...ast.Expr) (n int) {
	for _, x := range operands {
		if name, ok := x.(*ast.Ident); x != nil && (!ok || name.Name != "_") {
			n++
		}
	}
	return n
}

// declared counts the variables that a declaration gives a value; 0 for constants and types.
func declared(d *ast.GenDecl) (n int) {
	if d.Tok != token.VAR {
		return 0
	}
	for _, spec := range d.Specs {
		if v, ok := spec.(*ast.ValueSpec); ok && len(v.Values) > 0 {
			for _, name := range v.Names {
				n += assigned(name)
			}
		}
	}
	return n
}

// predeclared are the types that a conversion may name.
var predeclared = map[string]bool{
	"bool": true, "string": true, "byte": true, "rune": true, "any": true, "error": true, "uintptr": true,
	"int": true, "int8": true, "int16": true, "int32": true, "int64": true,
	"uint": true, "uint8": true, "uint16": true, "uint32": true, "uint64": true,
	"float32": true, "float64": true, "complex64": true, "complex128": true,
}

// isConversion reports whether a call is certainly a conversion, because it names a type. A named
// type of the file looks like a function here, so its conversions count as calls.
func isConversion(fun ast.Expr) bool {
	switch f := fun.(type) {
	case *ast.Ident:
		return predeclared[f.Name]
	case *ast.ParenExpr:
		return isConversion(f.X)
	case *ast.ArrayType, *ast.MapType, *ast.ChanType, *ast.FuncType, *ast.InterfaceType, *ast.StructType:
		return true
	}
	return false
}
