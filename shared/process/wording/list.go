package wording

import "strings"

// Or writes words as a, b or c; "" if there are none.
func Or[T ~string](words ...T) string { return joined(words, " or ") }

// And writes words as a, b and c; "" if there are none.
func And[T ~string](words ...T) string { return joined(words, " and ") }

// joined returns words with commas between them, and the conjunction before the last.
func joined[T ~string](words []T, conjunction string) string {
	var b strings.Builder
	for i, word := range words {
		switch {
		case i > 0 && i == len(words)-1:
			b.WriteString(conjunction)
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(string(word))
	}
	return b.String()
}
