package code

import (
	"bytes"
	"regexp/syntax"
)

// bom is the byte order mark with which a file in UTF-8 may begin.
const bom = '\ufeff'

// AtEdges returns an expression that matches as re does, and in which ^ also matches behind a byte
// order mark and $ also before the carriage return of CRLF. The expression takes these characters;
// TrimEdges removes them from a range. changed is false if re has no ^ or $. re is not changed.
func AtEdges(re *syntax.Regexp) (_ *syntax.Regexp, changed bool) {
	switch {
	case re.Op == syntax.OpBeginLine, re.Op == syntax.OpBeginText:
		return &syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{re, optional(bom)}}, true
	case re.Op == syntax.OpEndLine, re.Op == syntax.OpEndText && re.Flags&syntax.WasDollar != 0:
		return &syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{optional('\r'), re}}, true
	}
	edged := *re
	edged.Sub = make([]*syntax.Regexp, len(re.Sub))
	for i, sub := range re.Sub {
		var c bool
		edged.Sub[i], c = AtEdges(sub)
		changed = changed || c
	}
	return &edged, changed
}

// optional returns an expression that matches r or nothing.
func optional(r rune) *syntax.Regexp {
	return &syntax.Regexp{Op: syntax.OpQuest, Sub: []*syntax.Regexp{{Op: syntax.OpLiteral, Rune: []rune{r}}}}
}

// TrimEdges returns a range of a line without the characters beside the edges of the line that
// AtEdges lets an expression take.
func TrimEdges(line []byte, r Range) Range {
	if mark := []byte(string(bom)); r.Start == 0 && r.End >= len(mark) && bytes.HasPrefix(line, mark) {
		r.Start = len(mark)
	}
	if r.End == len(line) && r.End > r.Start && line[r.End-1] == '\r' {
		r.End--
	}
	return r
}
