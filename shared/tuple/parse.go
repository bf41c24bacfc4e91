package tuple

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// RestWord is the last word of a template that matches longer tuples too.
const RestWord = "..."

// ParseTuple reads the fields of a tuple, one word each, in the notation of the
// command line:
//
//	42  -7          int64
//	4.2  1.5e3      float64: there is a point in it
//	true  false     bool
//	nil             nil
//	word            string, if it is no other form
//	'42'  "42"      string, with the escapes of Go
//	int:1           a value of a named type: bool, int, int32, int64, float32,
//	                float64, string, and bytes in hexadecimal
//	(a 1 (b))       nested tuple
//
// There is no notation for opaque values. It fails with ErrFormat, ErrType or ErrBounds, and names the word.
func ParseTuple(words []string) (Tuple, error) {
	t := make(Tuple, 0, len(words))
	for _, w := range words {
		f, err := parseWord(w, withoutFormals)
		if err != nil {
			return nil, err
		}
		t = append(t, f)
	}
	return t, t.Validate()
}

// ParseTemplate is ParseTuple for templates: ?string is the formal of strings, and likewise for every type. If the
// last word is "...", open is true: the template is meant for all tuples that begin with what it matches (Begins).
// Spaces have no such templates, so it is only for showing tuples. It fails as ParseTuple does.
func ParseTemplate(words []string) (p Template, open bool, err error) {
	if n := len(words); n > 0 && words[n-1] == RestWord {
		words, open = words[:n-1], true
	}
	p = make(Template, 0, len(words))
	for _, w := range words {
		f, err := parseWord(w, withFormals)
		if err != nil {
			return nil, false, err
		}
		p = append(p, f)
	}
	return p, open, p.Validate()
}

// Begins reports whether p matches the first fields of t.
func (p Template) Begins(t Tuple) bool {
	return len(p) <= len(t) && p.Matches(t[:len(p)])
}

// Words splits a line into the words that ParseTuple and ParseTemplate read: between spaces, except within quotes and
// parentheses, which stay. It fails with ErrFormat if a quote or parenthesis is not closed or another word follows it
// without a space, and with ErrBounds for too deep nesting.
func Words(line string) ([]string, error) {
	var words []string
	for rest := strings.TrimLeft(line, blanks); rest != ""; rest = strings.TrimLeft(rest, blanks) {
		n, err := wordLength(rest, outermost)
		if err != nil {
			return nil, err
		}
		if n < len(rest) && !strings.ContainsRune(blanks, rune(rest[n])) {
			return nil, fmt.Errorf("%w: want a space after %s", ErrFormat, short(rest[:n]))
		}
		words = append(words, rest[:n])
		rest = rest[n:]
	}
	return words, nil
}

const blanks = " \t\r\n"

// wordLength returns the length in bytes of the word at the beginning of s, which must not be empty. depth is the
// depth of the tuple around the word: 1 for the tuple of the line, one more within each parenthesis. Within
// parentheses a word ends at a parenthesis too; at depth 1 a parenthesis within a word belongs to it, as in f(x).
func wordLength(s string, depth int) (int, error) {
	switch s[0] {
	case '\'', '"':
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case s[0]:
				return i + 1, nil
			}
		}
		return 0, fmt.Errorf("%w: %s is not closed", ErrFormat, short(s))
	case '(':
		return nestedLength(s, depth)
	}
	if depth > 1 {
		return indexOr(s, blanks+"()"), nil
	}
	return indexOr(s, blanks), nil
}

// indexOr returns the index of the first of chars in s, or the length of s if there is none.
func indexOr(s, chars string) int {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return i
	}
	return len(s)
}

// nestedLength returns the length in bytes of the nested tuple at the beginning of s, which is a field of a tuple at
// depth.
func nestedLength(s string, depth int) (int, error) {
	if depth >= MaxDepth {
		return 0, fmt.Errorf("%w: nested deeper than %d", ErrBounds, MaxDepth)
	}
	for i := 1; i < len(s); {
		switch {
		case s[i] == ')':
			return i + 1, nil
		case strings.IndexByte(blanks, s[i]) >= 0:
			i++
		default:
			n, err := wordLength(s[i:], depth+1)
			if err != nil {
				return 0, err
			}
			i += n
		}
	}
	return 0, fmt.Errorf("%w: %s is not closed", ErrFormat, short(s))
}

var (
	integer  = regexp.MustCompile(`^[+-]?[0-9]+$`)
	decimal  = regexp.MustCompile(`^[+-]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
	plain    = regexp.MustCompile(`^[A-Za-z0-9_/][A-Za-z0-9_./:@,+-]*$`)
	literals = map[string]any{"true": true, "false": false, "nil": nil}
)

// parseWord reads one field: w is one word as Words splits them, with its quotes. A word of no other form is a
// string. formals tells whether the field may be a formal.
func parseWord(w string, formals bool) (any, error) {
	if f, ok := literals[w]; ok {
		return f, nil
	}
	switch {
	case w == "":
		return "", nil
	case w[0] == '\'' || w[0] == '"':
		return unquote(w)
	case w[0] == '(':
		return parseNested(w)
	case w[0] == '?':
		return parseFormal(w, formals)
	case w == RestWord:
		return nil, fmt.Errorf("%w: ... must be the last word of a template; write the string as '...'", ErrFormat)
	case integer.MatchString(w):
		return parseValue(Int64, w, w)
	case decimal.MatchString(w):
		return parseValue(Float64, w, w)
	}
	if name, value, ok := strings.Cut(w, ":"); ok && named(Type(name)) {
		return parseValue(Type(name), value, w)
	}
	return w, nil
}

// named reports whether a value of the type can be written as type:value. Nil, nested and opaque
// values cannot.
func named(t Type) bool {
	switch t {
	case Bool, Int, Int32, Int64, Float32, Float64, String, Bytes:
		return true
	}
	return false
}

// parseFormal reads a word that begins with ?. It refuses the word unless formals is true.
func parseFormal(w string, formals bool) (any, error) {
	f := Formal{Type(w[1:])}
	switch {
	case !formals:
		return nil, fmt.Errorf("%w: %s: formals are only for templates; write the string as '%s'", ErrFormat, short(w), short(w))
	case !f.Type.valid():
		return nil, fmt.Errorf("%w: %s; want ? and one of %v", ErrType, short(w), Types)
	}
	return f, nil
}

// parseNested reads a word that begins with a parenthesis, as (a b c). It measures a word at any level as a field of
// the outermost tuple, because the call for the outermost word has checked the depth of all.
func parseNested(w string) (any, error) {
	n, err := nestedLength(w, outermost)
	if err != nil {
		return nil, err
	}
	if n != len(w) {
		return nil, fmt.Errorf("%w: %s: text follows the closing character", ErrFormat, short(w))
	}
	t := Tuple{}
	for rest := strings.TrimLeft(w[1:n-1], blanks); rest != ""; rest = strings.TrimLeft(rest, blanks) {
		n, err := wordLength(rest, outermost+1)
		if err != nil {
			return nil, err
		}
		f, err := parseWord(rest[:n], withoutFormals)
		if err != nil {
			return nil, err
		}
		t, rest = append(t, f), rest[n:]
	}
	return t, nil
}

// parseValue reads the value of a type that named accepts. word is for the error.
func parseValue(t Type, value, word string) (f any, err error) {
	switch t {
	case String:
		return value, nil
	case Bytes:
		f, err = hex.DecodeString(value)
	case Bool:
		f, err = strconv.ParseBool(value)
	case Int:
		f, err = strconv.Atoi(value)
	case Int32:
		var n int64
		n, err = strconv.ParseInt(value, 10, 32)
		f = int32(n)
	case Int64:
		f, err = strconv.ParseInt(value, 10, 64)
	case Float32:
		var n float64
		n, err = strconv.ParseFloat(value, 32)
		f = float32(n)
	case Float64:
		f, err = strconv.ParseFloat(value, 64)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: want a value of type %s", ErrFormat, short(word), t)
	}
	return f, nil
}

// unquote reads a string in quotes of either kind, with the escapes of Go. Text behind the
// closing quote and an invalid escape are ErrFormat.
func unquote(w string) (any, error) {
	n, err := wordLength(w, outermost)
	if err == nil && n != len(w) {
		err = fmt.Errorf("%w: %s: text follows the closing character", ErrFormat, short(w))
	}
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for rest := w[1 : n-1]; rest != ""; {
		c, multibyte, tail, err := strconv.UnquoteChar(rest, w[0])
		switch {
		case err != nil:
			return nil, fmt.Errorf("%w: %s: invalid escape", ErrFormat, short(w))
		case rest[0] != '\\':
			b.WriteString(rest[:len(rest)-len(tail)]) // copied unchanged, even if it is not valid UTF-8
		case multibyte:
			b.WriteRune(c)
		default:
			b.WriteByte(byte(c))
		}
		rest = tail
	}
	return b.String(), nil
}

// short returns the input for an error, cut to 64 bytes and made valid UTF-8.
func short(s string) string {
	const most = 64
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.ToValidUTF8(s, "?")
}
