package pspace

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// canonical appends one form of a JSON value: without blanks, members sorted by key, strings with as few escapes
// as possible, numbers as they are written. So two values of an opaque type are equal if their JSON means the
// same. The nesting of the value must be bounded by a frame.
func canonical(buf []byte, s *scanner) ([]byte, error) {
	switch s.peek() {
	case '{':
		return canonicalObject(buf, s)
	case '[':
		buf = append(buf, '[')
		first := true
		err := s.readArray(func() (err error) {
			if !first {
				buf = append(buf, ',')
			}
			first = false
			buf, err = canonical(buf, s)
			return err
		})
		return append(buf, ']'), err
	case '"':
		text, err := s.readText()
		return appendText(buf, text), err
	}
	raw, err := s.readRaw()
	return append(buf, raw...), err
}

// canonicalObject is canonical for an object. It keeps the members in one buffer until all are known, and then
// appends them sorted; of equal keys the order stays.
func canonicalObject(buf []byte, s *scanner) ([]byte, error) {
	type member struct {
		key        string
		start, end int // in values
	}
	var members []member
	var values []byte
	err := s.readObject(func(key string) (err error) {
		start := len(values)
		values, err = canonical(values, s)
		members = append(members, member{key, start, len(values)})
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(a.key, b.key) })
	buf = append(buf, '{')
	for i, m := range members {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = append(append(appendText(buf, m.key), ':'), values[m.start:m.end]...)
	}
	return append(buf, '}'), nil
}

// appendText appends a string in quotes, with as few escapes as JSON allows. Bytes that are not
// UTF-8 become U+FFFD. Runs without an escape are copied at once.
func appendText(buf []byte, text string) []byte {
	const hex = "0123456789abcdef"
	buf = append(buf, '"')
	start := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && size == 1 {
				buf = append(append(buf, text[start:i]...), "\uFFFD"...)
				start = i + 1
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		buf = append(buf, text[start:i]...)
		switch c {
		case '"', '\\':
			buf = append(buf, '\\', c)
		case '\n':
			buf = append(buf, '\\', 'n')
		case '\r':
			buf = append(buf, '\\', 'r')
		case '\t':
			buf = append(buf, '\\', 't')
		default:
			buf = append(buf, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	return append(append(buf, text[start:]...), '"')
}
