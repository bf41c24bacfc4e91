package match

import (
	"bytes"
	"context"

	"leasehold/shared/code"
)

// SpanLines calls visit for each line that a match of a multiline pattern touches, with the
// part of the match in it. start and end are the place of the line in text, without its
// line feed; lines are counted from 1. A line that several matches touch is visited for
// each of them. Matches ascend, so the lines do too. A search that would take long ends when ctx
// does.
func (m *Matcher) SpanLines(ctx context.Context, text []byte, visit func(line, start, end int, r code.Range)) {
	line, lineStart := 1, 0 // the line in which the last match ended
	m.eachSpan(ctx, text, func(from, to int) bool {
		for lineStart < len(text) {
			next := lineStart + lineEnd(text[lineStart:])
			end := withoutFeed(text, next)
			if from <= end { // the match begins in this line or an earlier one
				r := code.Range{Start: max(from, lineStart) - lineStart, End: min(to, end) - lineStart}
				visit(line, lineStart, end, m.trim(text[lineStart:end], r))
				if to <= next {
					return true // the next match may begin in the same line
				}
			}
			line, lineStart = line+1, next
		}
		return false // the match is behind the last line
	})
}

// Walk finds lines of Text by their numbers, in one pass.
type Walk struct {
	Text     []byte
	line, at int // at is the start of line; line is 0 before the first call
}

// To returns the place of a line, counted from 1, without its line feed. Lines must not
// descend from call to call. ok is false if the text has fewer lines.
func (w *Walk) To(line int) (start, end int, ok bool) {
	for w.line = max(w.line, 1); w.line < line && w.at < len(w.Text); w.line++ {
		w.at += lineEnd(w.Text[w.at:])
	}
	if w.line != line || w.at >= len(w.Text) {
		return 0, 0, false
	}
	return w.at, withoutFeed(w.Text, w.at+lineEnd(w.Text[w.at:])), true
}

// Context returns up to n lines of text before the line that begins at start, and up to n
// after the line that ends at end, without its line feed. It cuts each as code.Excerpt
// does. Of an n above code.MaxContext it returns MaxContext lines.
func Context(text []byte, start, end, n int) (before, after []string) {
	n = min(n, code.MaxContext)
	rest := text[:start]
	for len(rest) > 0 && len(before) < n {
		at := bytes.LastIndexByte(rest[:len(rest)-1], '\n') + 1 // rest ends with a line feed
		excerpt, _, _ := code.Excerpt(rest[at:len(rest)-1], nil)
		before, rest = append([]string{excerpt}, before...), rest[:at]
	}
	rest = text[end:]
	if len(rest) > 0 {
		rest = rest[1:] // the line feed at end
	}
	for len(rest) > 0 && len(after) < n {
		at := lineEnd(rest)
		excerpt, _, _ := code.Excerpt(bytes.TrimSuffix(rest[:at], []byte("\n")), nil)
		after, rest = append(after, excerpt), rest[at:]
	}
	return before, after
}
