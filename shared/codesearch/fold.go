package codesearch

import (
	"unicode"
	"unicode/utf8"
)

// Fold appends text to dst with each character replaced by the one that stands for all
// that differ from it in case only, as regular expressions with (?i) fold: two texts are
// equal under folding if and only if their folded forms are equal. Line feeds stay, and
// bytes that are not UTF-8 too. Same reports whether each byte of text has its place in
// the result, because all are ASCII.
func Fold(dst, text []byte) (folded []byte, same bool) {
	for i, b := range text {
		if b >= utf8.RuneSelf {
			return foldRunes(dst, text[i:]), false
		}
		dst = append(dst, lower[b])
	}
	return dst, true
}

func foldRunes(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		if b := text[i]; b < utf8.RuneSelf {
			dst = append(dst, lower[b])
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			dst = append(dst, text[i])
		} else {
			dst = utf8.AppendRune(dst, foldRune(r))
		}
		i += n
	}
	return dst
}

// lower is the folded form of each ASCII byte.
var lower = func() (table [utf8.RuneSelf]byte) {
	for b := range table {
		table[b] = byte(foldSlow(rune(b)))
	}
	return table
}()

// folded is the folded form of the characters of the scripts that have upper and lower
// case, up to Armenian.
var folded = func() (table [0x590]rune) {
	for r := range table {
		table[r] = foldSlow(rune(r))
	}
	return table
}()

func foldRune(r rune) rune {
	if int(r) < len(folded) {
		return folded[r]
	}
	return foldSlow(r)
}

// foldSlow returns the least character that folds to r, in lower case if it is ASCII.
func foldSlow(r rune) rune {
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		least = min(least, other)
	}
	if 'A' <= least && least <= 'Z' {
		return least + 'a' - 'A'
	}
	return least
}
