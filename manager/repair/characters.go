package repair

import "bytes"

// allowed reports whether XML has a character.
func allowed(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r <= 0xd7ff || r >= 0xe000 && r <= 0xfffd || r >= 0x10000 && r <= 0x10ffff
}

// dropCharacters returns valid UTF-8 without the characters that XML does not have: control characters, U+FFFE and
// U+FFFF.
func dropCharacters(doc []byte, f *Faults) []byte {
	e := edits{doc: doc}
	for i, c := range doc {
		switch {
		case c < 0x20 && !allowed(rune(c)):
			f.addAt("control character", doc, i)
			e.replace(i, i+1, "")
		case c == 0xef && (bytes.HasPrefix(doc[i:], []byte("\ufffe")) || bytes.HasPrefix(doc[i:], []byte("\uffff"))):
			f.addAt("character that XML does not have", doc, i)
			e.replace(i, i+3, "")
		}
	}
	return e.result()
}

// edits collects changes of a document, in the order of the document, and copies it at the first of them.
type edits struct {
	doc    []byte
	out    []byte
	copied int // bytes of doc that are in out, or were replaced
}

// replace puts text in place of doc[from:to]. from must not be below the to of the call before.
func (e *edits) replace(from, to int, text string) {
	if e.out == nil {
		e.out = make([]byte, 0, len(e.doc)+len(text))
	}
	e.out = append(append(e.out, e.doc[e.copied:from]...), text...)
	e.copied = to
}

// result returns the document with the changes, or the document itself if there are none.
func (e *edits) result() []byte {
	if e.out == nil {
		return e.doc
	}
	return append(e.out, e.doc[e.copied:]...)
}
