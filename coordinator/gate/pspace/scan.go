package pspace

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"leasehold/shared/fault"
)

// Bounds of a request.
const (
	maxRequest = 4 << 20 // bytes; a tuple has at most tuple.MaxBytes encoded
	maxNesting = 64      // objects and arrays within each other
)

// frame finds the end of the JSON object at the beginning of a buffer that grows, by its
// brackets alone. Its zero value is ready.
type frame struct {
	pos     int
	depth   int
	quoted  bool // within a string
	escaped bool // after a \ there
}

// findEnd returns the length of the object, with any blanks before it; 0 if the buffer does not contain all of it
// yet. It continues where the call before stopped, so data must begin with the same bytes. After the end of an
// object the next call looks for the next object.
func (f *frame) findEnd(data []byte) (int, error) {
	for ; f.pos < len(data); f.pos++ {
		c := data[f.pos]
		switch {
		case f.escaped:
			f.escaped = false
		case f.quoted:
			switch c {
			case '\\':
				f.escaped = true
			case '"':
				f.quoted = false
			}
		case c == '{' || c == '[':
			if f.depth == 0 && c == '[' {
				return 0, errNotJSON(f.pos)
			}
			if f.depth++; f.depth > maxNesting {
				return 0, fmt.Errorf("nested deeper than %d: %w", maxNesting, fault.ErrTooLarge)
			}
		case f.depth == 0:
			if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
				return 0, errNotJSON(f.pos)
			}
		case c == '}' || c == ']':
			if f.depth--; f.depth == 0 {
				n := f.pos + 1
				*f = frame{}
				return n, nil
			}
		case c == '"':
			f.quoted = true
		}
	}
	return 0, nil
}

func errNotJSON(at int) error {
	return fmt.Errorf("not a JSON object (at byte %d): %w", at, fault.ErrInvalid)
}

// scanner reads JSON from the front of data. Its methods return fault.ErrInvalid for anything else.
type scanner struct {
	data []byte
	pos  int
}

// peek skips blanks and returns the next byte, without reading it; 0 at the end.
func (s *scanner) peek() byte {
	for ; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// accept skips blanks and the byte c, if it is next, and reports whether it was.
func (s *scanner) accept(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.pos++
	return true
}

// readObject calls member for each member of an object; member must read its value. It ends at the first error.
func (s *scanner) readObject(member func(key string) error) error {
	if !s.accept('{') {
		return errNotJSON(s.pos)
	}
	if s.accept('}') {
		return nil
	}
	for {
		key, err := s.readText()
		if err == nil && !s.accept(':') {
			err = errNotJSON(s.pos)
		}
		if err == nil {
			err = member(key)
		}
		if err != nil {
			return err
		}
		if s.accept('}') {
			return nil
		}
		if !s.accept(',') {
			return errNotJSON(s.pos)
		}
	}
}

// readArray calls element for each element of an array; element must read it. It ends at the first error.
func (s *scanner) readArray(element func() error) error {
	if !s.accept('[') {
		return errNotJSON(s.pos)
	}
	if s.accept(']') {
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		if s.accept(']') {
			return nil
		}
		if !s.accept(',') {
			return errNotJSON(s.pos)
		}
	}
}

// readRaw reads any value and returns its bytes, which share memory with data. The nesting of the value must be
// bounded by a frame. Bytes returned with an error must not be used.
func (s *scanner) readRaw() ([]byte, error) {
	c, start := s.peek(), s.pos
	var err error
	switch {
	case c == '{':
		err = s.readObject(func(string) error { _, err := s.readRaw(); return err })
	case c == '[':
		err = s.readArray(func() error { _, err := s.readRaw(); return err })
	case c == '"':
		_, err = s.readText()
	case c == '-' || c >= '0' && c <= '9':
		err = s.readNumber()
	default:
		err = s.readLiteral()
	}
	return s.data[start:s.pos], err
}

// readLiteral reads true, false or null. Other words give fault.ErrInvalid.
func (s *scanner) readLiteral() error {
	for _, word := range []string{"true", "false", "null"} {
		if rest := s.data[s.pos:]; len(rest) >= len(word) && string(rest[:len(word)]) == word {
			s.pos += len(word)
			return nil
		}
	}
	return errNotJSON(s.pos)
}

// readNumber reads -? digits (. digits)? (e [+-]? digits)?, without superfluous zeros, as JSON has
// it. Other forms give fault.ErrInvalid.
func (s *scanner) readNumber() error {
	if s.peekByte() == '-' {
		s.pos++
	}
	first := s.peekByte()
	n := s.skipDigits()
	if n == 0 || first == '0' && n > 1 {
		return errNotJSON(s.pos)
	}
	if s.peekByte() == '.' {
		s.pos++
		if s.skipDigits() == 0 {
			return errNotJSON(s.pos)
		}
	}
	if c := s.peekByte(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peekByte(); c == '+' || c == '-' {
			s.pos++
		}
		if s.skipDigits() == 0 {
			return errNotJSON(s.pos)
		}
	}
	return nil
}

// peekByte returns the next byte, also a blank, without reading it; 0 at the end.
func (s *scanner) peekByte() byte {
	if s.pos == len(s.data) {
		return 0
	}
	return s.data[s.pos]
}

// skipDigits skips digits, and returns how many there were.
func (s *scanner) skipDigits() (n int) {
	for ; s.pos < len(s.data) && s.data[s.pos] >= '0' && s.data[s.pos] <= '9'; n++ {
		s.pos++
	}
	return n
}

// readText reads a string. It refuses invalid UTF-8; a surrogate without its other half is read as U+FFFD.
func (s *scanner) readText() (string, error) {
	if !s.accept('"') {
		return "", errNotJSON(s.pos)
	}
	start := s.pos
	for ; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; {
		case c == '"':
			plain := s.data[start:s.pos]
			s.pos++
			if !utf8.Valid(plain) {
				return "", fmt.Errorf("a string that is not UTF-8 (at byte %d): %w", start, fault.ErrInvalid)
			}
			return string(plain), nil
		case c == '\\':
			return s.readEscapedText(start)
		case c < ' ':
			return "", errNotJSON(s.pos)
		}
	}
	return "", errNotJSON(s.pos)
}

// readEscapedText continues readText at the first escape of a string that begins at start; it copies the string,
// which readText need not do.
func (s *scanner) readEscapedText(start int) (string, error) {
	text := append(make([]byte, 0, 2*(s.pos-start)+16), s.data[start:s.pos]...)
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		s.pos++
		switch {
		case c == '"':
			if !utf8.Valid(text) {
				return "", fmt.Errorf("a string that is not UTF-8 (at byte %d): %w", start, fault.ErrInvalid)
			}
			return string(text), nil
		case c < ' ':
			return "", errNotJSON(s.pos)
		case c != '\\':
			text = append(text, c)
			continue
		}
		switch e := s.peekByte(); e {
		case '"', '\\', '/':
			text = append(text, e)
		case 'b':
			text = append(text, '\b')
		case 'f':
			text = append(text, '\f')
		case 'n':
			text = append(text, '\n')
		case 'r':
			text = append(text, '\r')
		case 't':
			text = append(text, '\t')
		case 'u':
			r, err := s.readEscape()
			if err != nil {
				return "", err
			}
			text = utf8.AppendRune(text, r)
			continue
		default:
			return "", errNotJSON(s.pos)
		}
		s.pos++
	}
	return "", errNotJSON(s.pos)
}

// readEscape reads the rest of an escape like \u00e9, after the backslash, or of two that are the halves of one
// character (a surrogate pair). One half alone becomes U+FFFD, and the escape after it is left unread.
func (s *scanner) readEscape() (rune, error) {
	first, err := s.readCodeUnit()
	if err != nil || !utf16.IsSurrogate(first) {
		return first, err
	}
	if len(s.data) > s.pos+1 && s.data[s.pos] == '\\' && s.data[s.pos+1] == 'u' {
		before := s.pos
		s.pos++
		second, err := s.readCodeUnit()
		if err != nil {
			return 0, err
		}
		if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
			return r, nil
		}
		s.pos = before
	}
	return utf8.RuneError, nil
}

// readCodeUnit reads u and four hexadecimal digits.
func (s *scanner) readCodeUnit() (r rune, err error) {
	if len(s.data) < s.pos+5 {
		return 0, errNotJSON(s.pos)
	}
	for _, c := range s.data[s.pos+1 : s.pos+5] {
		r <<= 4
		switch {
		case c >= '0' && c <= '9':
			r |= rune(c - '0')
		case c >= 'a' && c <= 'f':
			r |= rune(c-'a') + 10
		case c >= 'A' && c <= 'F':
			r |= rune(c-'A') + 10
		default:
			return 0, errNotJSON(s.pos)
		}
	}
	s.pos += 5
	return r, nil
}
