package match

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"leasehold/shared/codesearch"
)

// A Need is what a text must have to match: with Op Literal, Text; with And, all of Of; with
// Or, one of Of; with Any, nothing is known.
type Need struct {
	Op   Op
	Text []byte // folded as codesearch.Fold does it; no line feed
	Of   []Need
}

// Op is the kind of a Need.
type Op int

// The kinds of needs.
const (
	Any Op = iota
	Literal
	And
	Or
)

// Limits of the strings that a part of an expression is expanded to.
const (
	maxExact      = 32
	maxExactBytes = 1 << 10
	maxClass      = 10 // characters of a class
)

// facts describe the matches of a part of an expression.
type facts struct {
	exact []string // if not nil: each match is one of these
	need  Need     // otherwise
}

// analysis derives facts; fold is nil, or folds texts.
type analysis struct{ fold func(string) string }

func foldString(s string) string {
	folded, _ := codesearch.Fold(nil, []byte(s))
	return string(folded)
}

// needOf returns what every match of re has.
func (a analysis) needOf(re *syntax.Regexp) Need { return a.of(re).asNeed() }

func (a analysis) of(re *syntax.Regexp) facts {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return facts{exact: []string{""}}
	case syntax.OpLiteral:
		return a.literal(re)
	case syntax.OpCharClass:
		return a.class(re.Rune)
	case syntax.OpCapture:
		return a.of(re.Sub[0])
	case syntax.OpConcat:
		return a.concat(re.Sub)
	case syntax.OpAlternate:
		return a.alternate(re.Sub)
	case syntax.OpQuest:
		if f := a.of(re.Sub[0]); f.exact != nil {
			return limited(append(slices.Clone(f.exact), ""))
		}
	case syntax.OpPlus:
		return facts{need: a.needOf(re.Sub[0])}
	case syntax.OpRepeat:
		if re.Min > 0 {
			return a.repeat(re)
		}
	}
	return facts{}
}

func (a analysis) literal(re *syntax.Regexp) facts {
	if text := string(re.Rune); a.fold != nil {
		return limited([]string{a.fold(text)})
	} else if re.Flags&syntax.FoldCase == 0 {
		return limited([]string{text})
	}
	return facts{}
}

// class returns the texts of the runes in ranges, which are pairs of the first and the last one.
func (a analysis) class(ranges []rune) facts {
	var all []string
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			text := string(r)
			if a.fold != nil {
				text = a.fold(text)
			}
			if !slices.Contains(all, text) {
				all = append(all, text)
			}
			if len(all) > maxClass {
				return facts{}
			}
		}
	}
	return limited(all)
}

// concat joins neighbours that are known exactly; the rest is needed part by part.
func (a analysis) concat(parts []*syntax.Regexp) facts {
	var needs []Need
	exact := []string{""}
	for _, part := range parts {
		f := a.of(part)
		if f.exact != nil {
			if joined := product(exact, f.exact); joined != nil {
				exact = joined
				continue
			}
		}
		needs = append(needs, facts{exact: exact}.asNeed())
		if exact = f.exact; exact == nil {
			needs, exact = append(needs, f.need), []string{""}
		}
	}
	if needs == nil {
		return facts{exact: exact}
	}
	return facts{need: all(append(needs, facts{exact: exact}.asNeed()))}
}

func (a analysis) alternate(parts []*syntax.Regexp) facts {
	exact := []string{}
	var needs []Need
	for _, part := range parts {
		f := a.of(part)
		needs = append(needs, f.asNeed())
		if exact != nil && f.exact != nil {
			exact = append(exact, f.exact...)
		} else {
			exact = nil
		}
	}
	if f := limited(exact); f.exact != nil {
		return f
	}
	return facts{need: one(needs)}
}

// repeat is the first Min of a repetition, if they are known exactly.
func (a analysis) repeat(re *syntax.Regexp) facts {
	f := a.of(re.Sub[0])
	if f.exact == nil {
		return facts{need: f.need}
	}
	exact := f.exact
	for range min(re.Min, maxExactBytes) - 1 {
		longer := product(exact, f.exact)
		if longer == nil {
			return facts{need: facts{exact: exact}.asNeed()}
		}
		exact = longer
	}
	if re.Max == re.Min {
		return facts{exact: exact}
	}
	return facts{need: facts{exact: exact}.asNeed()}
}

// product returns each text of a followed by each of b; nil if they are too many.
func product(a, b []string) []string {
	if len(a)*len(b) > maxExact {
		return nil
	}
	var all []string
	for _, x := range a {
		for _, y := range b {
			all = append(all, x+y)
		}
	}
	return limited(all).exact
}

// limited returns facts of these exact texts, or only what they need if they are too many or
// too long.
func limited(exact []string) facts {
	n := 0
	for _, text := range exact {
		n += len(text)
	}
	if len(exact) > maxExact || n > maxExactBytes {
		f := facts{}
		if len(exact) > 0 {
			f.need = facts{exact: exact}.asNeed()
		}
		return f
	}
	return facts{exact: exact}
}

func (f facts) asNeed() Need {
	if f.exact == nil {
		return f.need
	}
	var needs []Need
	for _, text := range f.exact {
		needs = append(needs, literals(text))
	}
	return one(needs)
}

// literals is the need of text: all of its parts between line feeds and replacement
// characters, which match bytes that are not UTF-8 too.
func literals(text string) Need {
	var parts []Need
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == utf8.RuneError }) {
		parts = append(parts, Need{Op: Literal, Text: []byte(part)})
	}
	return all(parts)
}

// all is the need of every one of needs.
func all(needs []Need) Need {
	needs = slices.DeleteFunc(needs, func(n Need) bool { return n.Op == Any })
	switch len(needs) {
	case 0:
		return Need{}
	case 1:
		return needs[0]
	}
	return Need{Op: And, Of: needs}
}

// one is the need of at least one of needs.
func one(needs []Need) Need {
	if len(needs) == 0 || slices.ContainsFunc(needs, func(n Need) bool { return n.Op == Any }) {
		return Need{}
	}
	if len(needs) == 1 {
		return needs[0]
	}
	return Need{Op: Or, Of: needs}
}

// maxAnyOf is how many texts are looked for at once in a chunk.
const maxAnyOf = 16

// anyOf returns texts such that each match has one of them, or nil if no such set is known. Of
// several sets it takes the one whose shortest text is longest, because long texts are rare.
func (n Need) anyOf() [][]byte {
	switch n.Op {
	case Literal:
		return [][]byte{n.Text}
	case And:
		var best [][]byte
		for _, sub := range n.Of {
			if set := sub.anyOf(); set != nil && (best == nil || shortest(set) > shortest(best) || shortest(set) == shortest(best) && len(set) < len(best)) {
				best = set
			}
		}
		return best
	case Or:
		var set [][]byte
		for _, sub := range n.Of {
			of := sub.anyOf()
			if of == nil || len(set)+len(of) > maxAnyOf {
				return nil
			}
			for _, text := range of {
				if !slices.ContainsFunc(set, func(x []byte) bool { return bytes.Equal(x, text) }) {
					set = append(set, text)
				}
			}
		}
		return set
	}
	return nil
}

// in reports whether text has what is needed. It may report true of large needs without
// checking them.
func (n Need) in(text []byte) bool {
	switch n.Op {
	case Literal:
		return bytes.Contains(text, n.Text)
	case And:
		for _, sub := range n.Of {
			if !sub.in(text) {
				return false
			}
		}
	case Or:
		if len(n.Of) > maxAnyOf {
			return true
		}
		for _, sub := range n.Of {
			if sub.in(text) {
				return true
			}
		}
		return false
	}
	return true
}

func shortest(set [][]byte) int {
	n := len(set[0])
	for _, text := range set {
		n = min(n, len(text))
	}
	return n
}
