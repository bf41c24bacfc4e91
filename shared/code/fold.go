package code

import (
	"unicode"
	"unicode/utf8"
)

// Fold appends text to dst with each character replaced by the one that stands for all
// that differ from it in case only, as regular expressions with (?i) fold: two texts are
// equal under folding if and only if their folded forms are equal. Line feeds stay, and
// bytes that are not UTF-8 too. same reports that text is ASCII; then each of its bytes is at
// the same place in the result. Otherwise the lengths may differ.
func Fold(dst, text []byte) (folded []byte, same bool) {
	for i, b := range text {
		if b >= utf8.RuneSelf {
			return foldRunes(dst, text[i:]), false
		}
		dst = append(dst, foldedASCII[b])
	}
	return dst, true
}

// foldRunes is Fold for text that is not only ASCII. It appends to dst. Bytes that are not UTF-8
// stay as they are, so that text of any encoding can be searched.
func foldRunes(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		if b := text[i]; b < utf8.RuneSelf {
			dst = append(dst, foldedASCII[b])
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

// foldedASCII is the folded form of each ASCII byte.
var foldedASCII = func() (table [utf8.RuneSelf]byte) {
	for b := range table {
		table[b] = byte(leastFolded(rune(b)))
	}
	return table
}()

// foldedRunes is the folded form of the characters of the scripts that have upper and lower
// case, up to Armenian.
var foldedRunes = func() (table [0x590]rune) {
	for r := range table {
		table[r] = leastFolded(rune(r))
	}
	return table
}()

// foldRune returns the folded form of a character; most are in a table.
func foldRune(r rune) rune {
	if int(r) < len(foldedRunes) {
		return foldedRunes[r]
	}
	return leastFolded(r)
}

// leastFolded returns the least of the characters that unicode.SimpleFold considers equal to r, in
// lower case if it is ASCII.
func leastFolded(r rune) rune {
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		least = min(least, other)
	}
	if 'A' <= least && least <= 'Z' {
		return least + 'a' - 'A'
	}
	return least
}
