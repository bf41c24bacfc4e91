package syntax

import "strconv"

type kind uint8

// The kinds of token. Words of the extensions are names: the parser knows them by
// where they stand.
const (
	eof kind = iota
	name
	number
	text // "quoted"
	separator
	word  // reserved: par, rap, if, …
	punct // := -> [] …
	illegal
)

var reserved = map[string]bool{"par": true, "rap": true, "if": true, "fi": true, "do": true, "od": true,
	"loop": true, "pool": true, "skip": true, "true": true, "false": true}

// puncts are the signs, the longer ones first.
var puncts = []string{":=", "->", "[]", "!=", "<=", ">=", "<>", "&&", "||", "~>", "..",
	"[", "]", "(", ")", "{", "}", ",", ";", ".", "?", "=", "<", ">", "+", "-", "*", "/", "%", "&", "|", "!", "~", ":"}

type token struct {
	kind kind
	text string
	pos  Pos
	end  int // line on which it ends
}

// is reports whether t is the reserved word or the sign s.
func (t token) is(s string) bool { return (t.kind == punct || t.kind == word) && t.text == s }

// named reports whether t is the name s, which may be a word of an extension.
func (t token) named(s string) bool { return t.kind == name && t.text == s }

// String says what t is in a message.
func (t token) String() string {
	switch t.kind {
	case eof:
		return "the end of the file"
	case text:
		return strconv.Quote(t.text)
	default:
		return t.text
	}
}

// A Comment is one "// …", without its end of line.
type Comment struct {
	Pos  Pos
	Text string
}
