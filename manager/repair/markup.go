package repair

import (
	"bytes"
	"html"
	"net/url"
	"slices"
	"strings"
)

// The bounds of a document that is repaired.
const (
	maxOpen = 1000      // elements within each other
	maxTag  = 256 << 10 // bytes of a start tag
)

// repairXML returns the root element of a document as well-formed XML, or the document itself without the root of a feed. One that
// is nested deeper than maxOpen, or has a larger tag than maxTag, it does not repair, because the caller refuses it. It stops when the result has more than maxBytes.
func repairXML(doc []byte, maxBytes int, f *Faults) []byte {
	s, tags := &scanner{doc: doc, next: map[string]int{}}, &tagReader{names: map[string]bool{}}
	root := findRoot(s, tags, f)
	if root < 0 {
		return doc
	}
	m := repairer{edits: edits{doc: doc, copied: root}, scanner: &scanner{doc: doc, next: map[string]int{}}, tags: tags, faults: f, opened: map[string]int{}}
	for at := root; at < len(doc); {
		size := m.step(at)
		if len(m.open) > maxOpen || m.beyond {
			return doc[root:]
		}
		at += size
		if len(m.open) == 0 {
			return m.wrap(m.until(at))
		}
		if len(m.out) > maxBytes {
			return m.out
		}
	}
	m.cutOff()
	return m.wrap(m.until(len(doc)))
}

// wrap puts a channel without a root element into one.
func (m *repairer) wrap(doc []byte) []byte {
	if len(doc) < 8 || !bytes.EqualFold(doc[:8], []byte("<channel")) {
		return doc
	}
	m.faults.add("channel without <rss> around it", 0)
	return slices.Concat([]byte("<rss>"), doc, []byte("</rss>"))
}

// A repairer goes through a document once, and notes what must be replaced.
type repairer struct {
	edits
	scanner *scanner
	tags    *tagReader
	faults  *Faults
	open    []element
	opened  map[string]int // how many elements of a name are open
	beyond  bool           // a tag has more than maxTag bytes
}

type element struct {
	name   string
	at     int      // where its start tag begins
	copied int      // where that is in the result
	inside int      // where its content begins
	base   *url.URL // of its URLs; nil: that of the document
	markup bool     // its content is not only text
}

// until returns the document from its root to an offset, with the changes.
func (m *repairer) until(end int) []byte {
	if m.out == nil {
		return m.doc[m.copied:end]
	}
	return append(m.out, m.doc[min(m.copied, end):end]...)
}

// fix is replace of a fault.
func (m *repairer) fix(kind string, from, to int, text string) {
	m.faults.addAt(kind, m.doc, from)
	m.replace(from, to, text)
}

// step handles the markup at an offset, and returns its size.
func (m *repairer) step(at int) int {
	rest := m.doc[at:]
	switch {
	case rest[0] == '&':
		return m.reference(at)
	case rest[0] == ']' && bytes.HasPrefix(rest, []byte("]]>")):
		m.fix(`"]]>" without a CDATA section`, at, at+3, "]]&gt;")
		return 3
	case rest[0] != '<':
		return 1
	case bytes.HasPrefix(rest, []byte("<![CDATA[")):
		return m.cdata(at)
	case bytes.HasPrefix(rest, []byte("<!--")):
		size, ok := m.scanner.comment(at)
		if !ok {
			m.fix(`comment with "--" or without an end`, at, at+size, "")
		}
		return size
	case bytes.HasPrefix(rest, []byte("<?")):
		size, ok := m.scanner.instruction(at)
		if !ok || len(rest) > 5 && bytes.EqualFold(rest[:5], []byte("<?xml")) && isSpace(rest[5]) {
			m.fix("instruction that does not belong there", at, at+size, "")
		}
		return size
	case bytes.HasPrefix(rest, []byte("<!")):
		size := m.scanner.doctype(at)
		m.fix("declaration within the feed", at, at+size, "")
		return size
	case bytes.HasPrefix(rest, []byte("</")):
		return m.endTag(at)
	}
	return m.startTag(at)
}

func (m *repairer) reference(at int) int {
	text, size, kind := reference(m.doc[at:])
	switch {
	case size == 0:
		return 1
	case kind != "":
		m.fix(kind, at, at+size, text)
	default:
		m.replace(at, at+size, text)
	}
	return size
}

// cdata handles a CDATA section. One without an end ends with the element that it is in. It has no end if another
// section begins, behind the end of that element, before the "]]>" that is found.
func (m *repairer) cdata(at int) int {
	const begin, end = "<![CDATA[", "]]>"
	inner := at + len(begin)
	next := m.scanner.find(end, inner)
	content := m.doc[inner:]
	if next >= 0 {
		content = m.doc[inner:next]
	}
	closes := bytes.Index(content, []byte("</"+m.open[len(m.open)-1].name))
	if next >= 0 && (closes < 0 || !bytes.Contains(content[closes:], []byte(begin))) {
		return next + len(end) - at
	}
	if closes < 0 {
		closes = len(content)
	}
	m.fix("CDATA section without an end", inner+closes, inner+closes, end)
	return len(begin) + closes
}

// endTag handles an end tag. It closes the innermost element of its name with all elements within; without such an
// element it is left out.
func (m *repairer) endTag(at int) int {
	rest := m.doc[at:]
	n := nameEnd(rest, 2)
	name := string(rest[2:n])
	size := skipSpace(rest, n)
	ok := n > 2 && size < len(rest) && rest[size] == '>'
	if ok {
		size++
	} else {
		size = n + fieldEnd(rest[n:], -1)
		if size < len(rest) && rest[size] == '>' {
			size++
		}
	}
	depth := m.find(name)
	if depth < 0 {
		m.fix("end tag without a start", at, at+size, "")
		return size
	}
	if depth < len(m.open)-1 {
		m.faults.addAt("element without an end", m.doc, m.open[len(m.open)-1].at)
	}
	var ends strings.Builder
	for len(m.open) > depth+1 {
		ends.WriteString("</" + m.pop().name + ">")
	}
	if e := m.open[depth]; e.base != nil && !e.markup && strings.EqualFold(e.name, "link") {
		m.resolveText(e, at)
	}
	last := m.pop().name
	switch {
	case !ok:
		m.fix("badly written end tag", at, at+size, ends.String()+"</"+last+">")
	case last != name || ends.Len() > 0:
		m.replace(at, at+size, ends.String()+"</"+last+">")
	}
	return size
}

// find returns the depth of the innermost open element of a name in any case, or -1.
func (m *repairer) find(name string) int {
	if m.opened[strings.ToLower(name)] == 0 {
		return -1
	}
	for i := len(m.open) - 1; ; i-- {
		if strings.EqualFold(m.open[i].name, name) {
			return i
		}
	}
}

func (m *repairer) pop() element {
	e := m.open[len(m.open)-1]
	m.open = m.open[:len(m.open)-1]
	m.opened[strings.ToLower(e.name)]--
	return e
}

// startTag handles a '<' that begins a start tag, or is text.
func (m *repairer) startTag(at int) int {
	t, ok := m.tags.read(m.doc[at:])
	m.beyond = t.size > maxTag
	if m.beyond {
		return t.size
	}
	if !ok {
		m.fix(`"<" in a text`, at, at+1, "&lt;")
		return 1
	}
	m.closeFields(at, strings.ToLower(t.name))
	e := element{name: t.name, at: at, copied: len(m.out) + at - m.copied, inside: at + t.size}
	if n := len(m.open); n > 0 {
		e.base, m.open[n-1].markup = m.open[n-1].base, true
	}
	m.rewrite(at, t, &e)
	if !t.empty {
		m.open = append(m.open, e)
		m.opened[strings.ToLower(t.name)]++
	}
	return t.size
}

var (
	// items are the elements that are never within each other.
	items = []string{"item", "entry"}
	// texts are the fields of an item that have only text.
	texts = []string{"title", "guid", "pubdate", "id", "updated", "published", "link", "comments"}
	// direct are fields that are in an item, and in nothing else.
	direct = []string{"guid", "pubdate", "enclosure"}
	// siblings are fields that are not within such a text.
	siblings = []string{"item", "entry", "title", "guid", "pubdate", "id", "updated", "published", "description", "enclosure", "comments", "summary"}
)

// closeFields closes the elements whose end is missing, as the start of the next one shows: an item before the next one, and a field
// before the next field, if it has only text or the next one is of no other element.
func (m *repairer) closeFields(at int, next string) {
	depth := len(m.open)
	switch {
	case slices.Contains(items, next) && m.find(next) > 0:
		depth = m.find(next)
	case slices.Contains(direct, next) && m.find("item") > 0:
		depth = m.find("item") + 1
	case slices.Contains(siblings, next):
		for depth > 0 && slices.Contains(texts, strings.ToLower(m.open[depth-1].name)) {
			depth--
		}
	}
	var ends strings.Builder
	for len(m.open) > depth {
		ends.WriteString("</" + m.pop().name + ">")
	}
	if ends.Len() > 0 {
		m.fix("element without an end", at, at, ends.String())
	}
}

// cutOff ends a document whose root does not end. An item that is open there may have lost any part of it, so it is
// left out.
func (m *repairer) cutOff() {
	m.faults.addAt(endMissing, m.doc, len(m.doc))
	for i, e := range m.open {
		if slices.Contains(items, strings.ToLower(e.name)) {
			if e.at < m.copied {
				m.out = m.out[:e.copied]
				m.copied = e.at
			}
			m.replace(e.at, len(m.doc), "")
			m.open = m.open[:i]
			break
		}
	}
	var ends strings.Builder
	for len(m.open) > 0 {
		ends.WriteString("</" + m.pop().name + ">")
	}
	m.replace(len(m.doc), len(m.doc), ends.String())
}

// resolveText replaces the URL that is the content of an element by the absolute one.
func (m *repairer) resolveText(e element, end int) {
	text := strings.TrimSpace(html.UnescapeString(string(m.doc[e.inside:end])))
	if absolute := resolve(e.base, text); absolute != text && m.copied <= e.inside {
		m.replace(e.inside, end, escape(absolute))
	}
}
