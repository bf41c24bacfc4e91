package conform

import (
	"strconv"
	"strings"

	"leasehold/shared/space/trace"
	"leasehold/shared/tuple"
)

// value is one field of a tuple in the log.
type value struct {
	text   string // the content of a string
	number int64
	kind   FieldKind // Text, Number, or Any for another type
}

// isEmpty reports whether v is the empty string or 0, which name no instance.
func (v value) isEmpty() bool {
	return v.kind == Text && v.text == "" || v.kind == Number && v.number == 0
}

// maxFields bounds the fields of a tuple.
const maxFields = 64

// fieldsOf parses a tuple in the notation of package tuple. ok is false if s is not one,
// or has more than maxFields fields.
func fieldsOf(s string) (all []value, ok bool) {
	if len(s) < 2 || s[0] != '(' || s[len(s)-1] != ')' {
		return nil, false
	}
	s = s[1 : len(s)-1]
	for s != "" {
		n := fieldLength(s)
		if n <= 0 || len(all) == maxFields {
			return nil, false
		}
		all = append(all, valueOf(s[:n]))
		s = s[n:]
		if s == "" {
			break
		}
		s, ok = strings.CutPrefix(s, ", ")
		if !ok || s == "" {
			return nil, false
		}
	}
	return all, true
}

// fieldLength returns the length of the first field of s, which ends before a comma outside of
// brackets and strings. It returns 0 if s does not begin with a field: a string or a bracket is
// not closed, or one closes that was not opened.
func fieldLength(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			quoted, err := strconv.QuotedPrefix(s[i:])
			if err != nil {
				return 0
			}
			i += len(quoted) - 1
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			if depth--; depth < 0 {
				return 0
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	if depth > 0 {
		return 0
	}
	return len(s)
}

// valueOf parses one field, which is not empty. Booleans are numbers with a text, so that
// they differ from 0 and 1.
func valueOf(s string) value {
	if s[0] == '"' {
		if v, err := strconv.Unquote(s); err == nil {
			return value{kind: Text, text: v}
		}
	}
	switch s {
	case "true":
		return value{kind: Number, number: 1, text: s}
	case "false":
		return value{kind: Number, text: s}
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return value{kind: Number, number: n}
	}
	return value{text: s}
}

// leaseOf returns the lease that a tuple names.
func leaseOf(fields []value) string {
	t := make(tuple.Tuple, len(fields))
	for i, f := range fields {
		if f.kind == Text {
			t[i] = f.text
		}
	}
	return trace.LeaseOf(t)
}
