package tuple

import (
	"fmt"
	"strconv"
	"strings"
)

// String prints a tuple for people: 42 is an int64, 4.2 a float64, "x" a string quoted
// as in Go. Any other type has its name in front, as in int:1.
func (t Tuple) String() string { return format(t) }

// String prints a template; ?string is the formal of strings.
func (p Template) String() string { return format(p) }

// format prints the fields of a tuple or a template for people, in parentheses.
func format(fields []any) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = formatField(f)
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// formatField prints a field for people: strings, int64 and float64 as in Go, the others with their
// type in front. A float64 has a point or an exponent, so that it does not look like an int64.
func formatField(f any) string {
	switch v := f.(type) {
	case nil:
		return "nil"
	case string:
		return strconv.Quote(v)
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		s := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(s, ".eIN") {
			s += ".0"
		}
		return s
	case []byte:
		return fmt.Sprintf("bytes:%x", v)
	case Tuple:
		return v.String()
	case Opaque:
		return fmt.Sprintf("%s%s:%s", opaquePrefix, v.Name, v.JSON)
	case Formal:
		return "?" + string(v.Type)
	}
	return fmt.Sprintf("%s:%v", TypeOf(f), f)
}
