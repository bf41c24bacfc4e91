package code

import (
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Weights of the reasons that rank a match. A definition outweighs all else.
const (
	WeightDefines     = 8.0 // the line defines a symbol with exactly the name found
	WeightDefinesPart = 4.0 // … with what was found as a part of its name, or whose name is whole words of it
	weightBoundary    = 1.0 // for each end of a range at a word's boundary
	weightFileName    = 1.5 // a word of the query is the file's name without extension
	weightInPath      = 0.5 // … occurs in the path
	weightGenerated   = -2.0
	weightVendored    = -2.0
	weightYear        = 0.01 // for each year of the commit's date since 1970
)

const yearS = 365.25 * 24 * 3600

// MaxPlainScore is the highest LineScore of a line that defines no symbol.
const MaxPlainScore = 2 * weightBoundary

// LineScore returns the part of a match's score that comes from its line: the score of the best
// of ranges, the places of the query in line, not joined: so the text of a range is what one pattern
// found. It sorts them. symbols are those that line defines; symbol is the one that the best range
// names, or nil if none does.
func LineScore(line []byte, ranges []Range, symbols []Symbol) (best float64, symbol *Symbol) {
	sortRanges(ranges) // of equal ranges the first one counts
	for _, r := range ranges {
		score := 0.0
		if atBoundary(line, r.Start) {
			score += weightBoundary
		}
		if atBoundary(line, r.End) {
			score += weightBoundary
		}
		defined, s := definedBy(string(line[r.Start:r.End]), symbols)
		score += defined
		if score > best || symbol == nil && s != nil {
			best, symbol = max(best, score), s
		}
	}
	return best, symbol
}

// definedBy returns the symbol whose name is most like text, and its weight: WeightDefines if
// the name is text, WeightDefinesPart if it contains text or is whole words of it. It returns 0 and
// nil if no symbol does. Of equal weights the first symbol is taken.
func definedBy(text string, symbols []Symbol) (weight float64, best *Symbol) {
	for i := range symbols {
		w := 0.0
		switch name := symbols[i].Name; {
		case text == "":
		case name == text:
			w = WeightDefines
		case strings.Contains(name, text), hasWholeWords(text, name):
			w = WeightDefinesPart
		}
		if w > weight {
			weight, best = w, &symbols[i]
		}
	}
	return weight, best
}

// hasWholeWords reports whether words occur in text and begin and end there at boundaries of words.
func hasWholeWords(text, words string) bool {
	for from := 0; words != ""; from++ {
		i := strings.Index(text[from:], words)
		if i < 0 {
			return false
		}
		from += i
		if atBoundary([]byte(text), from) && atBoundary([]byte(text), from+len(words)) {
			return true
		}
	}
	return false
}

// maxWholeWords bounds WholeWords, because n words have n²/2 sequences.
const maxWholeWords = 1000

// WholeWords returns the texts that begin and end at boundaries of words in text, without text
// itself. ok is false if there are more than 1,000.
func WholeWords(text string) (all []string, ok bool) {
	var edges []int
	for i := range len(text) + 1 {
		if atBoundary([]byte(text), i) {
			edges = append(edges, i)
		}
	}
	if len(edges)*len(edges)/2 > maxWholeWords {
		return nil, false
	}
	for i, from := range edges {
		for _, to := range edges[i+1:] {
			if to-from < len(text) {
				all = append(all, text[from:to])
			}
		}
	}
	return all, true
}

// atBoundary reports whether the byte offset i of line is between a character of a word
// and another one, or an end of the line.
func atBoundary(line []byte, i int) bool {
	before, _ := utf8.DecodeLastRune(line[:i])
	after, _ := utf8.DecodeRune(line[i:])
	return i == 0 || i == len(line) || isWord(before) != isWord(after)
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// FileScore returns the part of a match's score that comes from its file, whose path is name. words
// are the texts that the query has (Query.Words); newest is the date of the newest commit that has
// the file, or zero if it is not known. Several words do not add up; the best counts. A file that
// is generated or vendored has less.
func FileScore(name string, words []string, generated, vendored bool, newest time.Time) float64 {
	score := 0.0
	lower := strings.ToLower(name)
	base := path.Base(lower)
	base = strings.TrimSuffix(base, path.Ext(base))
	for _, w := range words {
		if base == w {
			score = max(score, weightFileName)
		} else if strings.Contains(lower, w) {
			score = max(score, weightInPath)
		}
	}
	if generated {
		score += weightGenerated
	}
	if vendored {
		score += weightVendored
	}
	if !newest.IsZero() {
		score += weightYear * float64(newest.Unix()) / yearS
	}
	return score
}

// Words returns the plain texts of q's words and symbols, in lower case. Regular expressions
// and negated texts are left out.
func (q Query) Words() []string { return wordsOf(q.Root, nil) }

// wordsOf appends the words and symbols of e that a match shows, in lower case. Filters and
// negated parts have none.
func wordsOf(e Expr, words []string) []string {
	switch e := e.(type) {
	case And:
		for _, sub := range e.Of {
			words = wordsOf(sub, words)
		}
	case Or:
		for _, sub := range e.Of {
			words = wordsOf(sub, words)
		}
	case Content:
		words = e.Pattern.appendWord(words)
	case Sym:
		words = e.Pattern.appendWord(words)
	}
	return words
}

// appendWord appends the text of a pattern in lower case, unless it is a regular expression.
func (p Pattern) appendWord(words []string) []string {
	if p.Regexp {
		return words
	}
	return append(words, strings.ToLower(p.Source))
}
