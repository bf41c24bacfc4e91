package syntax

var reserved = map[string]bool{"par": true, "rap": true, "if": true, "fi": true, "do": true, "od": true,
	"loop": true, "pool": true, "skip": true, "true": true, "false": true}

// operators are the signs; longer ones come first, because Sign returns the first match.
var operators = []string{":=", "->", "[]", "!=", "<=", ">=", "<>", "&&", "||", "~>", "..",
	"[", "]", "(", ")", "{", "}", ",", ";", ".", "?", "=", "<", ">", "+", "-", "*", "/", "%", "&", "|", "!", "~", ":"}

// named reports whether t is the name s, possibly a word of an extension.
func named(t Token, s string) bool { return t.Kind == NameToken && t.Text == s }

// Comment is one comment with its // and without its line end.
type Comment struct {
	Pos  Pos
	Text string
}
