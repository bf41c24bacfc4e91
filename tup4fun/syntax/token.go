package syntax

import "strconv"

type kind uint8

// The kinds of tokens. Words of the extensions are names; the parser recognizes them by
// context.
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

// operators are the signs; longer ones come first, because Sign returns the first match.
var operators = []string{":=", "->", "[]", "!=", "<=", ">=", "<>", "&&", "||", "~>", "..",
	"[", "]", "(", ")", "{", "}", ",", ";", ".", "?", "=", "<", ">", "+", "-", "*", "/", "%", "&", "|", "!", "~", ":"}

type token struct {
	kind kind
	text string
	pos  Pos
	end  int // last line of the token
}

// is reports whether t is the reserved word or the sign s.
func (t token) is(s string) bool { return (t.kind == punct || t.kind == word) && t.text == s }

// named reports whether t is the name s, possibly a word of an extension.
func (t token) named(s string) bool { return t.kind == name && t.text == s }

// String names t in a message.
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

// Comment is one comment with its // and without its line end.
type Comment struct {
	Pos  Pos
	Text string
}
