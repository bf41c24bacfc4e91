package match

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"

	"leasehold/shared/code"
	"leasehold/shared/fault"
)

// maxRanges is how many places of a pattern in one line are reported.
const maxRanges = 1000

// A Matcher finds one pattern. It is safe for concurrent use.
type Matcher struct {
	re         *regexp.Regexp // for one line, or for a whole text if multiline
	within     *regexp.Regexp // for a text of several lines; no match crosses a line feed; nil if multiline
	literal    []byte         // the pattern, if it is plain text compared with case; else nil
	oneOfTexts [][]byte       // each matching line has one of these; folded if fold
	fold       bool           // oneOfTexts is to be found in folded text
	multiline  bool
	edges      bool // matches may have characters beside the edges of lines (code.AtEdges)
	need       Need // folded; may have trigrams of classes, for an index
	lineNeed   Need // of a line, before the expression runs on it; folded if fold
	states     int  // of the expression, about
}

// New returns the matcher of p. It ignores case if fold is true. It derives from the expression
// which texts (oneOfTexts) or trigrams (need) a matching line must have, so that a search compares
// few lines. It fails with fault.ErrInvalid if p does not compile.
func New(p code.Pattern, fold bool) (*Matcher, error) {
	m := &Matcher{multiline: p.Multiline()}
	var err error
	if m.re, err = p.Compile(fold); err != nil {
		return nil, err
	}
	flags := syntax.Perl &^ syntax.OneLine
	if fold {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(p.Expression(), flags)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, fault.ErrInvalid)
	}
	if p.Regexp {
		tree, m.edges = code.AtEdges(tree)
	}
	m.states = code.States(tree)
	if !m.multiline {
		tree = inLine(tree)
		if m.within, err = regexp.Compile("(?m:" + tree.String() + ")"); err != nil {
			return nil, fmt.Errorf("%w: %w", err, fault.ErrInvalid)
		}
	}
	m.need = analysis{foldString}.needOf(tree)
	m.fold = fold || folds(tree)
	if m.fold {
		m.lineNeed = m.need
	} else {
		m.lineNeed = analysis{}.needOf(tree)
		if !p.Regexp && !m.multiline {
			m.literal = []byte(p.Source)
		}
	}
	m.oneOfTexts = m.lineNeed.oneOfTexts()
	// An index of trigrams cannot look for shorter texts, so classes are used in their place.
	if set := m.need.oneOfTexts(); set == nil || shortest(set) < 3 {
		m.need = allOf(append(classTrigrams(tree), m.need))
	}
	return m, nil
}

// inLine returns an expression that matches within the lines of a text as re matches each line
// alone: no class has a line feed, and where re requires an end of the text, it requires an end
// of the line. re is not changed.
func inLine(re *syntax.Regexp) *syntax.Regexp {
	switch re.Op {
	case syntax.OpBeginText:
		return &syntax.Regexp{Op: syntax.OpBeginLine}
	case syntax.OpEndText:
		return &syntax.Regexp{Op: syntax.OpEndLine}
	case syntax.OpLiteral:
		if bytes.ContainsRune([]byte(string(re.Rune)), '\n') {
			return &syntax.Regexp{Op: syntax.OpNoMatch}
		}
	case syntax.OpCharClass:
		return &syntax.Regexp{Op: syntax.OpCharClass, Flags: re.Flags, Rune: withoutLineFeed(re.Rune)}
	}
	changed := *re
	changed.Sub = make([]*syntax.Regexp, len(re.Sub))
	for i, sub := range re.Sub {
		changed.Sub[i] = inLine(sub)
	}
	return &changed
}

// withoutLineFeed returns the ranges of a class, pairs of the first and the last character,
// without the line feed. A range around it becomes two.
func withoutLineFeed(ranges []rune) []rune {
	var kept []rune
	for i := 0; i < len(ranges); i += 2 {
		from, to := ranges[i], ranges[i+1]
		if from > '\n' || to < '\n' {
			kept = append(kept, from, to)
			continue
		}
		if from < '\n' {
			kept = append(kept, from, '\n'-1)
		}
		if to > '\n' {
			kept = append(kept, '\n'+1, to)
		}
	}
	return kept
}

// folds reports whether a literal of re ignores case, as (?i) within an expression causes it.
func folds(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase != 0 {
		return true
	}
	for _, sub := range re.Sub {
		if folds(sub) {
			return true
		}
	}
	return false
}

// Need returns the texts that a matching line has, folded; if the matcher is Multiline, those
// that the lines of a matching text have together.
func (m *Matcher) Need() Need { return m.need }

// Multiline reports whether matches may have several lines. Then SpanLines finds them, and
// otherwise Lines.
func (m *Matcher) Multiline() bool { return m.multiline }

// MatchName reports whether the pattern matches in the name of a symbol.
func (m *Matcher) MatchName(name []byte) bool { return m.re.Match(name) }

// Ranges returns the first 1,000 places of the pattern in a line, which do not overlap, in their
// order; nil if there are none. A literal must have at least one byte, so that each place
// advances the search; code.Parse refuses an empty pattern.
func (m *Matcher) Ranges(line []byte) []code.Range {
	var all []code.Range
	if m.literal == nil {
		for _, at := range m.re.FindAllIndex(line, maxRanges) {
			all = append(all, m.trim(line, code.Range{Start: at[0], End: at[1]}))
		}
		return all
	}
	for at := 0; len(all) < maxRanges; {
		i := bytes.Index(line[at:], m.literal)
		if i < 0 {
			break
		}
		all = append(all, code.Range{Start: at + i, End: at + i + len(m.literal)})
		at += i + len(m.literal)
	}
	return all
}

// trim returns a range of a match in a line without characters beside the line's edges.
func (m *Matcher) trim(line []byte, r code.Range) code.Range {
	if m.edges {
		return code.TrimEdges(line, r)
	}
	return r
}

// maxSpans is how many matches of a pattern over several lines are found in one text.
const maxSpans = 1 << 17

// eachSpan calls visit with the places of the first 131,072 matches in text, until visit returns
// false. A search that would take long (interruptibleFrom) has no such limit, but ends when ctx
// does, and continues behind the line in which a match ends, so that ^ holds where it begins.
func (m *Matcher) eachSpan(ctx context.Context, text []byte, visit func(start, end int) bool) {
	if m.states*len(text) < interruptibleFrom {
		for _, at := range m.re.FindAllIndex(text, maxSpans) {
			if !visit(at[0], at[1]) {
				return
			}
		}
		return
	}
	for from := 0; from < len(text); {
		at := m.find(ctx, m.re, text[from:])
		if at == nil || !visit(from+at[0], from+at[1]) {
			return
		}
		// An empty match would be found again, and ^ holds only at the start of a line.
		from += at[1]
		if at[0] == at[1] || text[from-1] != '\n' {
			from += lineEnd(text[from:])
		}
	}
}

// lineEnd returns the length of the first line of text with its line feed, if it has one.
func lineEnd(text []byte) int {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return len(text)
}

// interruptibleFrom is the number of states times bytes from which on a search reads its text
// through runes, so that ctx ends it. That takes about twice the time, so short searches do not.
const interruptibleFrom = 1 << 28

// find returns the start and end of re's first match in text, or nil if there is none or ctx ended.
func (m *Matcher) find(ctx context.Context, re *regexp.Regexp, text []byte) []int {
	if m.states*len(text) < interruptibleFrom {
		return re.FindIndex(text)
	}
	return re.FindReaderIndex(&runes{ctx: ctx, text: text})
}

// runes is an io.RuneReader of text that ends early when ctx ends, which it checks about each
// 1,024 bytes.
type runes struct {
	ctx  context.Context
	text []byte
	at   int
}

// ReadRune implements io.RuneReader: the next character and its length. It ends the text early
// when ctx ends, because an expression can read it for very long; io.EOF is its only error.
func (r *runes) ReadRune() (rune, int, error) {
	if r.at == len(r.text) || r.at%1024 == 0 && r.ctx.Err() != nil {
		return 0, 0, io.EOF
	}
	c, n := utf8.DecodeRune(r.text[r.at:])
	r.at += n
	return c, n, nil
}
