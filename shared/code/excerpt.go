package code

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// Excerpt returns at most MaxTextBytes of line around the first of ranges, the number of
// bytes of line before that text, and the parts of ranges that are in it, relative to it. It
// returns a shorter line whole. It cuts between characters.
func Excerpt(line []byte, ranges []Range) (text string, column int, within []Range) {
	from, to := 0, len(line)
	if to > MaxTextBytes {
		if len(ranges) > 0 {
			from = max(0, min(ranges[0].Start-MaxTextBytes/4, len(line)-MaxTextBytes))
		}
		to = min(len(line), from+MaxTextBytes)
		from, to = runeStart(line, from), runeStart(line, to)
	}
	for _, r := range ranges {
		if r.Start < to && r.End > from || r.Start == r.End && r.Start >= from && r.Start <= to {
			within = append(within, Range{max(r.Start, from) - from, min(r.End, to) - from})
		}
	}
	return string(line[from:to]), from, within
}

// runeStart returns the start of the character that the byte offset i is in. It returns i if i is
// 0, the end of line, or in bytes that are not UTF-8.
func runeStart(line []byte, i int) int {
	for j := i; j > 0 && j > i-utf8.UTFMax && j < len(line); j-- {
		if utf8.RuneStart(line[j]) {
			return j
		}
	}
	return i
}

// JoinRanges sorts ranges and joins those that overlap or touch. The result is in the memory of
// ranges.
func JoinRanges(ranges []Range) []Range {
	sortRanges(ranges)
	joined := ranges[:0]
	for _, r := range ranges {
		if n := len(joined); n > 0 && r.Start <= joined[n-1].End {
			joined[n-1].End = max(joined[n-1].End, r.End)
		} else {
			joined = append(joined, r)
		}
	}
	return joined
}

// sortRanges sorts ranges by start, then by end.
func sortRanges(ranges []Range) {
	slices.SortFunc(ranges, func(a, b Range) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
}
