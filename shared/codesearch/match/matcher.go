package match

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"

	"leasehold/shared/codesearch"
	"leasehold/shared/fault"
)

// maxRanges is how many places of a pattern in one line are reported.
const maxRanges = 1000

// A Matcher finds one pattern. It is safe for concurrent use.
type Matcher struct {
	re        *regexp.Regexp // in one line, or in a whole text if multiline
	within    *regexp.Regexp // in several lines, with no match across a line feed
	literal   []byte         // not nil if the pattern is a text to find as it is
	anyOf     [][]byte       // each matching line has one of these; folded if fold
	fold      bool           // anyOf is to be found in folded text
	multiline bool
	need      Need
	lineNeed  Need // what a line has that matches; folded if fold
	states    int
}

// New returns the matcher of p; it ignores case if fold.
func New(p codesearch.Pattern, fold bool) (*Matcher, error) {
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
	m.states = size(tree)
	if !m.multiline {
		tree = inLine(tree)
		if m.within, err = regexp.Compile("(?m:" + tree.String() + ")"); err != nil {
			return nil, fmt.Errorf("%w: %w", err, fault.ErrInvalid)
		}
	}
	m.need = analysis{foldString}.needOf(tree)
	if m.fold = fold || folds(tree); m.fold {
		m.lineNeed = m.need
	} else {
		m.lineNeed = analysis{}.needOf(tree)
		if !p.Regexp && !m.multiline {
			m.literal = []byte(p.Source)
		}
	}
	m.anyOf = m.lineNeed.anyOf()
	if set := m.need.anyOf(); set == nil || shortest(set) < 3 {
		m.need = all(append(trigrams(tree), m.need))
	}
	return m, nil
}

// inLine returns re changed so that it matches within lines of a text as re matches a line
// by itself: no class has a line feed, and the ends of the text are those of the line.
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

// folds reports whether a literal of re ignores case.
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

// size is about the number of states of re.
func size(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		n += size(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(1, re.Min, re.Max)
	}
	return n
}

// Need returns what a line that matches has; if the matcher is Multiline, what the lines
// of a text that matches have together.
func (m *Matcher) Need() Need { return m.need }

// Multiline reports whether matches may have several lines. Then Spans finds them, and
// otherwise Lines.
func (m *Matcher) Multiline() bool { return m.multiline }

// MatchName reports whether the name of a symbol has the pattern.
func (m *Matcher) MatchName(name []byte) bool { return m.re.Match(name) }

// Ranges returns where the pattern is in a line, at most in 1,000 places.
func (m *Matcher) Ranges(line []byte) []codesearch.Range {
	var all []codesearch.Range
	if m.literal == nil {
		for _, at := range m.re.FindAllIndex(line, maxRanges) {
			all = append(all, codesearch.Range{Start: at[0], End: at[1]})
		}
		return all
	}
	for at := 0; len(all) < maxRanges; {
		i := bytes.Index(line[at:], m.literal)
		if i < 0 {
			break
		}
		all = append(all, codesearch.Range{Start: at + i, End: at + i + len(m.literal)})
		at += i + len(m.literal)
	}
	return all
}

// maxSpans is how many matches of a pattern over several lines are found in one text.
const maxSpans = 1 << 17

// Spans calls visit with the places of the first 131,072 matches in text, until it returns
// false. A search that would take long ends when ctx does; of two of its matches, the
// second does not begin in the line in which the first ends.
func (m *Matcher) Spans(ctx context.Context, text []byte, visit func(start, end int) bool) {
	if m.states*len(text) < slow {
		for _, at := range m.re.FindAllIndex(text, maxSpans) {
			if !visit(at[0], at[1]) {
				return
			}
		}
		return
	}
	for from := 0; from < len(text); {
		at := m.find(ctx, m.re, text[from:], nil)
		if at == nil || !visit(from+at[0], from+at[1]) {
			return
		}
		if from += at[1]; at[0] == at[1] || text[from-1] != '\n' {
			from += lineEnd(text[from:])
		}
	}
}

// lineEnd returns the length of the first line of text with its line feed.
func lineEnd(text []byte) int {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return len(text)
}

// slow is from how many states times bytes on a single search is interruptible, which
// takes about twice the time.
const slow = 1 << 28

// find returns the first match in text; nil too if ctx ended. It counts what it reads in s,
// which may be nil.
func (m *Matcher) find(ctx context.Context, re *regexp.Regexp, text []byte, s *Scratch) []int {
	if s != nil {
		s.matched += int64(len(text))
	}
	if m.states*len(text) < slow {
		return re.FindIndex(text)
	}
	return re.FindReaderIndex(&runes{ctx: ctx, text: text})
}

// runes reads text until ctx ends.
type runes struct {
	ctx  context.Context
	text []byte
	at   int
}

// ReadRune returns the next character.
func (r *runes) ReadRune() (rune, int, error) {
	if r.at == len(r.text) || r.at%1024 == 0 && r.ctx.Err() != nil {
		return 0, 0, io.EOF
	}
	c, n := utf8.DecodeRune(r.text[r.at:])
	r.at += n
	return c, n, nil
}
