package repair

import (
	"bytes"
	"encoding/xml"
	"strings"
	"unicode/utf8"
)

// A tag is a start tag.
type tag struct {
	name       string
	attributes []attribute
	empty      bool // it ends with />
	size       int  // in bytes, with < and >
	bad        bool // the parser refuses it as it is written
}

type attribute struct {
	name  string
	value []byte // as it is written, without quotes
}

// A tagReader reads start tags. It keeps the names that it had the parser of XML check.
type tagReader struct {
	names map[string]bool
	list  []attribute // reused by each tag
}

// read reads the start tag at the beginning of m, and reports whether there is one. Else the '<' is a character of
// the text. A tag of more than maxTag bytes it does not read further, and returns the size so far.
func (t *tagReader) read(m []byte) (tag, bool) {
	n := nameEnd(m, 1)
	if n == 1 || n == len(m) || !isSpace(m[n]) && m[n] != '/' && m[n] != '>' || !t.isName(m[1:n]) {
		return tag{}, false
	}
	found := tag{name: string(m[1:n])}
	t.list = t.list[:0]
	for at := n; at < len(m); {
		if at > maxTag {
			return tag{size: at}, false
		}
		switch c := m[at]; {
		case c == '>':
			found.size, found.attributes = at+1, t.list
			return found, true
		case c == '<':
			return tag{}, false
		case c == '/' && at+1 < len(m) && m[at+1] == '>':
			found.empty = true
			at++
		case isSpace(c):
			at++
		default:
			next, bad := t.readAttribute(m, at)
			found.bad = found.bad || bad
			at = next
		}
	}
	return tag{}, false
}

// readAttribute reads the attribute at an offset, and returns where it ends and whether it is badly written. It
// leaves out signs between attributes.
func (t *tagReader) readAttribute(m []byte, at int) (next int, bad bool) {
	end := nameEnd(m, at)
	if end == at || !t.isName(m[at:end]) {
		return max(end, at+1), true
	}
	a := attribute{name: string(m[at:end])}
	equals := skipSpace(m, end)
	if equals == len(m) || m[equals] != '=' {
		t.list = append(t.list, a)
		return end, true
	}
	begin := skipSpace(m, equals+1)
	if begin == len(m) {
		return begin, true
	}
	if quote := m[begin]; quote == '"' || quote == '\'' {
		a.value, next, bad = quoted(m, begin+1, quote)
	} else {
		next = begin
		for next < len(m) && !isSpace(m[next]) && m[next] != '>' && m[next] != '<' {
			next++
		}
		a.value, bad = m[begin:next], true
	}
	t.list = append(t.list, a)
	return next, bad
}

// quoted reads a value up to its quote. A value whose quote is missing ends before the next attribute, or else with
// its tag: then the quote that is found begins the value of that attribute, or is behind the tag.
func quoted(m []byte, begin int, quote byte) (value []byte, next int, bad bool) {
	size := bytes.IndexByte(m[begin:], quote)
	if size < 0 {
		size = len(m) - begin
	}
	value, next = m[begin:begin+size], min(begin+size+1, len(m))
	end := bytes.IndexByte(value, '>')
	if end >= 0 && bytes.IndexByte(value[end:], '<') >= 0 || next == len(m) && end >= 0 {
		if value[max(end-1, 0)] == '/' {
			end--
		}
		value, next, bad = value[:end], begin+end, true
	}
	if cut := openedValue(value); cut >= 0 {
		return value[:cut], begin + cut, true
	}
	return value, next, bad || bytes.IndexByte(value, '<') >= 0
}

// openedValue returns where a value ends that ends with the beginning of another attribute (` type=`), or -1.
func openedValue(value []byte) int {
	trimmed := bytes.TrimRight(value, " \t\r\n")
	if !bytes.HasSuffix(trimmed, []byte("=")) {
		return -1
	}
	trimmed = bytes.TrimRight(trimmed[:len(trimmed)-1], " \t\r\n")
	i := bytes.LastIndexAny(trimmed, " \t\r\n")
	if i < 0 || nameEnd(trimmed, i+1) != len(trimmed) || i+1 == len(trimmed) {
		return -1
	}
	return i
}

// nameEnd returns where the name that begins at an offset ends.
func nameEnd(m []byte, at int) int {
	for at < len(m) && (m[at] >= utf8.RuneSelf || isNameByte(m[at])) {
		at++
	}
	return at
}

func isNameByte(c byte) bool {
	return isASCIILetter(rune(c)) || '0' <= c && c <= '9' || strings.IndexByte("_:.-", c) >= 0
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func skipSpace(m []byte, at int) int {
	for at < len(m) && isSpace(m[at]) {
		at++
	}
	return at
}

// keptNames is how many names of a document are kept at most.
const keptNames = 1000

// isName reports whether the parser takes a name.
func (t *tagReader) isName(name []byte) bool {
	if len(name) > 0 && isASCIILetter(rune(name[0])) && bytes.IndexFunc(name, func(r rune) bool { return r == ':' || r >= utf8.RuneSelf }) < 0 {
		return true
	}
	known, ok := t.names[string(name)]
	if ok {
		return known
	}
	if len(t.names) >= keptNames {
		clear(t.names)
	}
	d := xml.NewDecoder(strings.NewReader("<" + string(name) + "/>"))
	d.Strict = false
	_, err := d.RawToken()
	t.names[string(name)] = err == nil
	return err == nil
}
