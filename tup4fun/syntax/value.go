package syntax

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// SymbolBase is the value of the first symbol. Numbers have 32 bits, so no symbol equals
// a number.
const SymbolBase int64 = 1 << 40

// Errors of arithmetic.
var (
	errDivision = errors.New("division by zero")
	errOverflow = fmt.Errorf("the result is not within %d to %d", math.MinInt32, math.MaxInt32)
	errSymbol   = errors.New("a symbol is not a number")
)

// Arith computes a op b for + - * / %. Division truncates towards zero, as in C. An error means
// that an operand is a symbol, that b is zero in a division, or that the result is outside 32
// bits.
func Arith(op string, a, b int64) (int64, error) {
	if a >= SymbolBase || b >= SymbolBase {
		return 0, errSymbol
	}
	switch op {
	case "+":
		a += b
	case "-":
		a -= b
	case "*":
		a *= b
	default:
		if b == 0 {
			return 0, errDivision
		}
		if op == "%" {
			return a % b, nil
		}
		a /= b
	}
	if a < math.MinInt32 || a > math.MaxInt32 {
		return 0, errOverflow
	}
	return a, nil
}

// Compare reports whether a op b holds, for = != < <= > >=. Only = and != accept symbols, which
// have no order; the others return an error for them.
func Compare(op string, a, b int64) (holds bool, err error) {
	switch op {
	case "=":
		return a == b, nil
	case "!=":
		return a != b, nil
	}
	if a >= SymbolBase || b >= SymbolBase {
		return false, errSymbol
	}
	switch op {
	case "<":
		return a < b, nil
	case "<=":
		return a <= b, nil
	case ">":
		return a > b, nil
	default:
		return a >= b, nil
	}
}

// Show prints a value of the program: a number, or the name of a symbol.
func (p *Program) Show(v int64) string {
	if i := v - SymbolBase; i >= 0 && i < int64(len(p.Symbols)) {
		return p.Symbols[i]
	}
	return strconv.FormatInt(v, 10)
}

// symbol returns the value of the symbol with that name, and adds the symbol if it is
// new.
func (p *Program) symbol(name string) int64 {
	i := slices.Index(p.Symbols, name)
	if i < 0 {
		i = len(p.Symbols)
		p.Symbols = append(p.Symbols, name)
	}
	return SymbolBase + int64(i)
}
