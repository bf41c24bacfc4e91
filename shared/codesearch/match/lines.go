package match

import (
	"bytes"
	"context"

	"leasehold/shared/codesearch"
)

// Scratch is memory that successive calls of Lines use. It is for one goroutine.
type Scratch struct {
	folded  []byte
	matched int64 // bytes that expressions read
	next    []int // place of each text of anyOf
}

// Matched returns how many bytes were read by regular expressions, which take about 64
// times as long for a byte as looking for a text, and sets the count to 0.
func (s *Scratch) Matched() int64 {
	n := s.matched
	s.matched = 0
	return n
}

// Lines calls visit with the place of each matching line of text, without its line feed,
// until it returns false. Text is whole lines. A search that would take long ends when ctx
// does.
func (m *Matcher) Lines(ctx context.Context, text []byte, s *Scratch, visit func(start, end int) bool) {
	switch {
	case m.anyOf == nil:
		m.scan(ctx, text, s, visit)
	case !m.fold:
		m.candidates(text, m.anyOf, s, func(start, end int) bool {
			if m.literal == nil && !m.lineNeed.in(text[start:end]) {
				return true
			}
			if m.literal == nil && m.find(ctx, m.re, text[start:end], s) == nil {
				return true
			}
			return visit(start, end)
		})
	default:
		m.folded(ctx, text, s, visit)
	}
}

// scan runs the expression over text.
func (m *Matcher) scan(ctx context.Context, text []byte, s *Scratch, visit func(start, end int) bool) {
	s.matched += int64(len(text))
	for from := 0; from < len(text); {
		at := m.find(ctx, m.within, text[from:], nil)
		if at == nil || from+at[0] == len(text) && text[len(text)-1] == '\n' {
			return // the latter is an empty match after the last line
		}
		start := from + bytes.LastIndexByte(text[from:from+at[0]], '\n') + 1
		end := from + at[0] + lineEnd(text[from+at[0]:])
		if !visit(start, withoutFeed(text, end)) {
			return
		}
		from = end
	}
}

// withoutFeed returns end, or the place of the line feed before it.
func withoutFeed(text []byte, end int) int {
	if text[end-1] == '\n' {
		return end - 1
	}
	return end
}

// candidates calls visit with the place of each line that has one of texts.
func (m *Matcher) candidates(text []byte, texts [][]byte, s *Scratch, visit func(start, end int) bool) {
	s.next = append(s.next[:0], make([]int, len(texts))...)
	for i := range texts {
		s.next[i] = -1
	}
	for from := 0; from < len(text); {
		first := len(text)
		for i, t := range texts {
			if s.next[i] < from {
				if s.next[i] = bytes.Index(text[from:], t) + from; s.next[i] < from {
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

// folded looks for lines in folded text, and verifies them as they are in text.
func (m *Matcher) folded(ctx context.Context, text []byte, s *Scratch, visit func(start, end int) bool) {
	var same bool
	s.folded, same = codesearch.Fold(s.folded[:0], text)
	at, read := 0, 0 // the start of the same line in text and in its folded form
	m.candidates(s.folded, m.anyOf, s, func(start, end int) bool {
		if !m.lineNeed.in(s.folded[start:end]) {
			return true
		}
		if !same {
			for n := bytes.Count(s.folded[read:start], []byte("\n")); n > 0; n-- {
				at += lineEnd(text[at:])
			}
			read, start = start, at
			end = withoutFeed(text, at+lineEnd(text[at:]))
		}
		if m.find(ctx, m.re, text[start:end], s) == nil {
			return true
		}
		return visit(start, end)
	})
}
