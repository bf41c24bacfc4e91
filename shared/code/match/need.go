package match

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"leasehold/shared/code"
)

// A Need states what each text that matches an expression has: with Op Literal, Text; with And,
// all of Of; with Or, at least one of Of. With Any, the zero value, nothing is known: any text may
// match.
type Need struct {
	Op   Op
	Text []byte // folded as code.Fold does it; no line feed
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
	exact []string // if not nil: each match is one of these; if empty, nothing matches
	need  Need     // what each match contains; unused if exact is not nil
}

// analysis derives facts. If fold is not nil, their texts are folded with it, and hold for
// folded text.
type analysis struct{ fold func(string) string }

func foldString(s string) string {
	folded, _ := code.Fold(nil, []byte(s))
	return string(folded)
}

// needOf returns what every match of re contains.
func (a analysis) needOf(re *syntax.Regexp) Need { return a.factsOf(re).asNeed() }

// factsOf returns the facts of re; the zero value, which states nothing, for operators that are
// not listed, such as * and the dot.
func (a analysis) factsOf(re *syntax.Regexp) facts {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return facts{exact: []string{""}}
	case syntax.OpLiteral:
		return a.literal(re)
	case syntax.OpCharClass:
		return a.class(re.Rune)
	case syntax.OpCapture:
		return a.factsOf(re.Sub[0])
	case syntax.OpConcat:
		return a.concat(re.Sub)
	case syntax.OpAlternate:
		return a.alternate(re.Sub)
	case syntax.OpQuest:
		if f := a.factsOf(re.Sub[0]); f.exact != nil {
			return limitedFacts(append(slices.Clone(f.exact), ""))
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

// literal returns the text of re. A literal that ignores case in an analysis without fold has
// several forms, so nothing is stated.
func (a analysis) literal(re *syntax.Regexp) facts {
	if text := string(re.Rune); a.fold != nil {
		return limitedFacts([]string{a.fold(text)})
	} else if re.Flags&syntax.FoldCase == 0 {
		return limitedFacts([]string{text})
	}
	return facts{}
}

// class returns the characters in ranges, which are pairs of the first and the last one, as
// exact texts. Of a class with more than maxClass it states nothing.
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
	return limitedFacts(all)
}

// concat returns the facts of parts one after the other. It multiplies the exact texts of
// neighbours as long as they are not too many; where that ends, the texts so far become a need.
// With one or more needs, all are required.
func (a analysis) concat(parts []*syntax.Regexp) facts {
	var needs []Need
	exact := []string{""} // of the parts since the last need
	for _, part := range parts {
		f := a.factsOf(part)
		if f.exact != nil {
			if joined := product(exact, f.exact); joined != nil {
				exact = joined
				continue
			}
		}
		needs = append(needs, facts{exact: exact}.asNeed())
		if f.exact != nil { // its texts begin the next product
			exact = f.exact
		} else {
			needs, exact = append(needs, f.need), []string{""}
		}
	}
	if needs == nil {
		return facts{exact: exact}
	}
	return facts{need: allOf(append(needs, facts{exact: exact}.asNeed()))}
}

// alternate returns what is known of a match of any one of parts: the exact texts of all if all
// are exact and not too many, otherwise the need of one of them.
func (a analysis) alternate(parts []*syntax.Regexp) facts {
	exact := []string{} // nil once a part is not exact
	var needs []Need
	for _, part := range parts {
		f := a.factsOf(part)
		needs = append(needs, f.asNeed())
		if exact != nil && f.exact != nil {
			exact = append(exact, f.exact...)
		} else {
			exact = nil
		}
	}
	if f := limitedFacts(exact); f.exact != nil {
		return f
	}
	return facts{need: oneOf(needs)}
}

// repeat returns the facts of a repetition, whose Min is at least 1. If the repeated part is exact,
// they are the facts of Min copies, or of fewer if Min is too many. The result is exact only if Max
// is equal to Min.
func (a analysis) repeat(re *syntax.Regexp) facts {
	f := a.factsOf(re.Sub[0])
	if f.exact == nil {
		return facts{need: f.need}
	}
	exact := f.exact
	for range min(re.Min, maxExactBytes) - 1 { // more copies of one byte or more are too long
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

// product returns each text of a followed by each of b; nil if they are too many or too long.
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
	return limitedFacts(all).exact
}

// limitedFacts returns the facts that each match is one of exact. If these are too many or too
// long, the facts have only their need. exact may be nil: then nothing is stated.
func limitedFacts(exact []string) facts {
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

// asNeed returns what f states as a need, without the fact that the texts are the whole match:
// that one of them occurs.
func (f facts) asNeed() Need {
	if f.exact == nil {
		return f.need
	}
	var needs []Need
	for _, text := range f.exact {
		needs = append(needs, literals(text))
	}
	return oneOf(needs)
}

// literals returns the need of text: all of its parts between line feeds, because needs are
// looked for within lines, and between replacement characters, because these also match bytes
// that are not UTF-8.
func literals(text string) Need {
	var parts []Need
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == utf8.RuneError }) {
		parts = append(parts, Need{Op: Literal, Text: []byte(part)})
	}
	return allOf(parts)
}

// allOf returns the need of every one of needs; those that state nothing are left out.
func allOf(needs []Need) Need {
	needs = slices.DeleteFunc(needs, func(n Need) bool { return n.Op == Any })
	switch len(needs) {
	case 0:
		return Need{}
	case 1:
		return needs[0]
	}
	return Need{Op: And, Of: needs}
}

// oneOf returns the need of at least one of needs. If one of them states nothing, the result
// does not either.
func oneOf(needs []Need) Need {
	if len(needs) == 0 || slices.ContainsFunc(needs, func(n Need) bool { return n.Op == Any }) {
		return Need{}
	}
	if len(needs) == 1 {
		return needs[0]
	}
	return Need{Op: Or, Of: needs}
}

// maxTexts is how many texts are looked for at once in a chunk.
const maxTexts = 16

// oneOfTexts returns texts such that each match has at least one of them, or nil if no set of at
// most maxTexts is known. Of several sets it takes the one whose shortest text is longest, because
// long texts are rare.
func (n Need) oneOfTexts() [][]byte {
	switch n.Op {
	case Literal:
		return [][]byte{n.Text}
	case And:
		var best [][]byte
		for _, sub := range n.Of {
			if set := sub.oneOfTexts(); set != nil && (best == nil || shortest(set) > shortest(best) || shortest(set) == shortest(best) && len(set) < len(best)) {
				best = set
			}
		}
		return best
	case Or:
		var set [][]byte
		for _, sub := range n.Of {
			of := sub.oneOfTexts()
			if of == nil || len(set)+len(of) > maxTexts {
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

// mayBeIn reports whether text has what n states. For an Or of more than maxTexts it returns
// true without checking, because running the expression takes less time.
func (n Need) mayBeIn(text []byte) bool {
	switch n.Op {
	case Literal:
		return bytes.Contains(text, n.Text)
	case And:
		for _, sub := range n.Of {
			if !sub.mayBeIn(text) {
				return false
			}
		}
	case Or:
		if len(n.Of) > maxTexts {
			return true
		}
		for _, sub := range n.Of {
			if sub.mayBeIn(text) {
				return true
			}
		}
		return false
	}
	return true
}

// shortest returns the length of the shortest text of set, which is not empty.
func shortest(set [][]byte) int {
	n := len(set[0])
	for _, text := range set {
		n = min(n, len(text))
	}
	return n
}
