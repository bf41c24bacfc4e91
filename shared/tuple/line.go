package tuple

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Line prints t in the notation that Words and ParseTuple read. Reading it back gives a
// tuple equal to t, unless t has an opaque field.
func (t Tuple) Line() string { return line(t) }

// Line prints p in the notation that Words and ParseTemplate read.
func (p Template) Line() string { return line(p) }

// line prints fields with spaces between them.
func line(fields []any) string {
	words := make([]string, len(fields))
	for i, f := range fields {
		words[i] = lineField(f)
	}
	return strings.Join(words, " ")
}

// lineField prints one field so that parseWord reads it back with its type: a type is in front of a
// value that would be read as one of another type.
func lineField(f any) string {
	switch v := f.(type) {
	case string:
		return lineString(v)
	case []byte:
		return string(Bytes) + ":" + hex.EncodeToString(v)
	case Tuple:
		return "(" + line(v) + ")"
	case float32:
		return fmt.Sprintf("%s:%s", Float32, strconv.FormatFloat(float64(v), 'g', -1, 32))
	case float64:
		s := formatField(v)
		if decimal.MatchString(s) {
			return s
		}
		return fmt.Sprintf("%s:%s", Float64, s)
	}
	return formatField(f)
}

// lineString prints a string. It quotes s only if it would be read as something else.
func lineString(s string) string {
	if plain.MatchString(s) {
		if f, err := parseWord(s, withFormals); err == nil && f == any(s) {
			return s
		}
	}
	q := strconv.Quote(s) // within ", so that ' needs no escape
	body := strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
	return "'" + strings.ReplaceAll(body, "'", `\'`) + "'"
}
