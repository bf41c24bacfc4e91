package match

import (
	"bytes"
	"context"

	"leasehold/shared/code"
)

// Scratch is memory that successive calls of Lines use. It is for one goroutine.
type Scratch struct {
	folded []byte
	next   []int // of eachLineWithAny: the next place of each text
}

// Lines calls visit with the place of each matching line of text, without its line feed, until
// visit returns false. text is whole lines. A search that would take long ends when ctx does.
// If each match contains one of a few texts, it looks for these first and runs the expression on
// lines that have one, because that takes less time.
func (m *Matcher) Lines(ctx context.Context, text []byte, s *Scratch, visit func(start, end int) bool) {
	switch {
	case m.oneOfTexts == nil:
		m.eachMatchingLine(ctx, text, visit)
	case !m.fold:
		m.eachLineWithAny(text, m.oneOfTexts, s, func(start, end int) bool {
			line := text[start:end]
			// A line that has the literal matches; others need the expression, which takes longer.
			matches := m.literal != nil || m.lineNeed.mayBeIn(line) && m.find(ctx, m.re, line) != nil
			return !matches || visit(start, end)
		})
	default:
		m.eachFoldedLine(ctx, text, s, visit)
	}
}

// eachMatchingLine runs the expression over the whole text, and calls visit once for each line with
// a match, until visit returns false or ctx ends. An empty match after the last line feed is
// none.
func (m *Matcher) eachMatchingLine(ctx context.Context, text []byte, visit func(start, end int) bool) {
	for from := 0; from < len(text); {
		at := m.find(ctx, m.within, text[from:])
		if at == nil || from+at[0] == len(text) && text[len(text)-1] == '\n' {
			return
		}
		start := from + bytes.LastIndexByte(text[from:from+at[0]], '\n') + 1
		end := from + at[0] + lineEnd(text[from+at[0]:])
		if !visit(start, withoutFeed(text, end)) {
			return
		}
		from = end
	}
}

// withoutFeed returns where a line ends that ends at end with its line feed, if it has one. end
// is at least 1.
func withoutFeed(text []byte, end int) int {
	if text[end-1] == '\n' {
		return end - 1
	}
	return end
}

// eachLineWithAny calls visit with the place of each line that has one of texts, until visit
// returns false. s.next has the next place of each text, len(text) if there is none, so that each
// text is searched for only after its last place was passed.
func (m *Matcher) eachLineWithAny(text []byte, texts [][]byte, s *Scratch, visit func(start, end int) bool) {
	s.next = append(s.next[:0], make([]int, len(texts))...)
	for i := range texts {
		s.next[i] = -1
	}
	for from := 0; from < len(text); {
		first := len(text)
		for i, t := range texts {
			if s.next[i] < from {
				s.next[i] = bytes.Index(text[from:], t) + from
				if s.next[i] < from { // Index was -1
					s.next[i] = len(text)
				}
			}
			first = min(first, s.next[i])
		}
		if first == len(text) {
			return
		}
		start := from + bytes.LastIndexByte(text[from:first], '\n') + 1
		end := first + lineEnd(text[first:])
		if !visit(start, withoutFeed(text, end)) {
			return
		}
		from = end
	}
}

// eachFoldedLine looks for lines in the folded text, and runs the expression on each as it is in
// text. If folding moved bytes, it finds the line in text by counting line feeds, which folding
// keeps.
func (m *Matcher) eachFoldedLine(ctx context.Context, text []byte, s *Scratch, visit func(start, end int) bool) {
	var same bool
	s.folded, same = code.Fold(s.folded[:0], text)
	at, read := 0, 0 // the start of one line: in text, and in s.folded
	m.eachLineWithAny(s.folded, m.oneOfTexts, s, func(start, end int) bool {
		if !m.lineNeed.mayBeIn(s.folded[start:end]) {
			return true
		}
		if !same {
			for n := bytes.Count(s.folded[read:start], []byte("\n")); n > 0; n-- {
				at += lineEnd(text[at:])
			}
			read, start = start, at
			end = withoutFeed(text, at+lineEnd(text[at:]))
		}
		if m.find(ctx, m.re, text[start:end]) == nil {
			return true
		}
		return visit(start, end)
	})
}
