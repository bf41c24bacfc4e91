package match

import (
	"cmp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// Limits of the trigrams that are derived from classes of characters.
const (
	maxTrigrams = 1024 // in one need, which requires one of them
	maxWindows  = 2    // needs for one expression
	maxCopies   = 8    // of the repeated part of an expression
)

// classTrigrams returns up to two needs that come from classes of characters, each that one of
// some trigrams occurs. Three successive characters of an expression, such as three hexadecimal
// digits, may be a few hundred trigrams; most chunks of text have none of them. It takes the
// places with the fewest trigrams. If no place has at most maxTrigrams, it returns nil.
func classTrigrams(re *syntax.Regexp) []Need {
	type window struct {
		at, size int
	}
	sequence := sequenceOf(re, nil)
	var windows []window
	for i := 0; i+3 <= len(sequence); i++ {
		// 0: a place is unknown; 1: literal text, which needOf covers.
		if n := len(sequence[i]) * len(sequence[i+1]) * len(sequence[i+2]); n > 1 && n <= maxTrigrams {
			windows = append(windows, window{i, n})
		}
	}
	slices.SortStableFunc(windows, func(a, b window) int { return cmp.Compare(a.size, b.size) })
	var needs []Need
	for _, w := range windows[:min(len(windows), maxWindows)] {
		var alternatives []Need
		for _, a := range sequence[w.at] {
			for _, b := range sequence[w.at+1] {
				for _, c := range sequence[w.at+2] {
					alternatives = append(alternatives, Need{Op: Literal, Text: []byte{a, b, c}})
				}
			}
		}
		needs = append(needs, oneOf(alternatives))
	}
	return needs
}

// sequenceOf appends the folded ASCII characters that each successive place of a match may have. An
// empty set stands for an unknown place, or a part of any length.
func sequenceOf(re *syntax.Regexp, sequence [][]byte) [][]byte {
	switch re.Op {
	case syntax.OpCapture:
		return sequenceOf(re.Sub[0], sequence)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			sequence = sequenceOf(sub, sequence)
		}
		return sequence
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			sequence = append(sequence, foldedASCII([]rune{r, r}))
		}
		return sequence
	case syntax.OpCharClass:
		return append(sequence, foldedASCII(re.Rune))
	case syntax.OpPlus:
		return append(sequenceOf(re.Sub[0], sequence), nil)
	case syntax.OpRepeat:
		for range min(re.Min, maxCopies) {
			sequence = sequenceOf(re.Sub[0], sequence)
		}
		if re.Max == re.Min && re.Min <= maxCopies {
			return sequence
		}
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return sequence
	}
	return append(sequence, nil)
}

// foldedASCII returns the folded characters of a class, whose ranges are pairs of the first and
// the last character. It returns nil if one of them does not fold to ASCII or is a line feed.
func foldedASCII(ranges []rune) []byte {
	var set []byte
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			folded := foldString(string(r))
			if len(folded) != 1 || folded[0] >= utf8.RuneSelf || r == '\n' {
				return nil
			}
			if !slices.Contains(set, folded[0]) {
				set = append(set, folded[0])
			}
		}
	}
	return set
}
