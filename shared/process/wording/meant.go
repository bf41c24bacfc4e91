// Package wording makes parts of messages: lists of words, and the word that a person probably
// meant.
package wording

// DidYouMean returns " (did you mean X?)" for the candidate that Nearest returns; empty if there is none.
func DidYouMean(word string, candidates []string) string {
	best := Nearest(word, candidates)
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// Nearest returns the first of the candidates nearest to word; empty if more than a third of its letters and one
// more differ, or more than half of them.
func Nearest(word string, candidates []string) string {
	best, bestAt := "", min(len(word)/3+2, len(word)/2+1)
	for _, c := range candidates {
		if d := Distance(word, c); d < bestAt {
			best, bestAt = c, d
		}
	}
	if bestAt >= len(best) {
		return ""
	}
	return best
}

// Distance returns the number of letters to insert, delete, replace, or swap with their
// neighbour to turn a into b (optimal string alignment).
func Distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(last[j]+1, row[j-1]+1, replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
