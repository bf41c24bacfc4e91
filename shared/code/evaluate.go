package code

import (
	"fmt"
	"regexp"
	"strings"

	"leasehold/shared/fault"
)

// Truth is whether a part of a query holds for a file, as far as it is known.
type Truth int8

// The values of Truth, ordered: And is the least of several, Or the greatest, and Not of x is
// True - x, which leaves Unknown as it is.
const (
	False Truth = iota
	Unknown
	True
)

// TruthOf returns True or False.
func TruthOf(holds bool) Truth {
	if holds {
		return True
	}
	return False
}

// Evaluate returns whether e holds. It calls leaf for the nodes that are neither And, Or nor
// Not, from left to right until the result is certain. The result is Unknown if it depends on a
// leaf that is.
func Evaluate(e Expr, leaf func(Expr) Truth) Truth {
	switch e := e.(type) {
	case And:
		least := True
		for _, sub := range e.Of {
			least = min(least, Evaluate(sub, leaf))
			if least == False {
				break
			}
		}
		return least
	case Or:
		greatest := False
		for _, sub := range e.Of {
			greatest = max(greatest, Evaluate(sub, leaf))
			if greatest == True {
				break
			}
		}
		return greatest
	case Not:
		return True - Evaluate(e.Of, leaf)
	}
	return leaf(e)
}

// Shown calls visit for each Content and Sym of e whose matches are shown for a file: those that
// are True and not negated, also in a part of an Or that is not True. So the lines of a file do not
// depend on the files that a query lets through. leaf returns the values for the file.
func Shown(e Expr, leaf func(Expr) Truth, visit func(Expr)) {
	switch e := e.(type) {
	case And:
		for _, sub := range e.Of {
			Shown(sub, leaf, visit)
		}
	case Or:
		for _, sub := range e.Of {
			Shown(sub, leaf, visit)
		}
	case Content, Sym:
		if leaf(e) == True {
			visit(e)
		}
	}
}

// gitSuffix is the end of a repository's URL, which its name does not have.
var gitSuffix = regexp.MustCompile(`(?i)\\?\.git/?\$?$`)

// Compile returns a function that reports whether a name matches f. It fails with fault.ErrInvalid
// if the value is not a regular expression; any language is accepted.
func (f Filter) Compile() (func(name string) bool, error) {
	if f.Field == FieldLang {
		return func(name string) bool { return strings.EqualFold(name, f.Value) }, nil
	}
	re, err := regexp.Compile("(?i)" + f.Value) // no group, because \Q without \E would take its end for text
	if err != nil {
		return nil, fmt.Errorf("%s:%s: %w: %w", f.Field, f.Value, err, fault.ErrInvalid)
	}
	plain := gitSuffix.ReplaceAllLiteralString(f.Value, "")
	if f.Field != FieldRepo || plain == "" || plain == f.Value {
		return re.MatchString, nil
	}
	without, err := regexp.Compile("(?i)" + plain + "$")
	if err != nil { // the suffix was part of an expression
		return re.MatchString, nil
	}
	return func(name string) bool { return re.MatchString(name) || without.MatchString(name) }, nil
}
