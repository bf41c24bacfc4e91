package clips

import (
	"bytes"
	"fmt"
	"strings"

	"leasehold/shared/fault"
)

// Bounds of a feed besides its items. The parser keeps 50 to 400 bytes for each element
// of any length, and some of its loops are quadratic.
const (
	maxElements   = 1 << 20  // 50 for each item of a full feed
	maxDepth      = 256      // HTML in a description, badly closed, reaches 50
	maxTagBytes   = 64 << 10 // of a start tag with its attributes
	maxNamespaces = 64       // declared around any element; real feeds have 15
	maxPieces     = 1000     // comments and CDATA sections without an element between
	maxTagName    = 256      // bytes of a name that are kept
	maxCommas     = 4 << 20  // of a JSON Feed: members, but those in text too
)

func tooMany(format string, args ...any) error {
	return fmt.Errorf("the feed has "+format+": %w", append(args, fault.ErrTooLarge)...)
}

// prune cuts a feed after its first items, before it is parsed, and returns how many more it has.
// It also refuses, with fault.ErrInvalid or fault.ErrTooLarge, documents that would take the
// parser too much time or memory.
func prune(doc []byte, items int) (cut []byte, more int, err error) {
	start := bytes.TrimLeft(doc, "\ufeff \t\r\n")
	if len(start) > 0 && start[0] == '{' {
		return pruneJSON(doc, items)
	}
	p := pruner{doc: doc, items: items}
	if err := p.readDocument(); err != nil {
		return nil, 0, err
	}
	return p.result(), max(0, p.seen-items), nil
}

// A pruner reads just enough markup to count items and elements. It is more lenient than
// the parser: if the two disagree, the parser refuses the document.
type pruner struct {
	doc      []byte
	items    int
	at       int // the offset of the current '<'
	open     []element
	seen     int // items
	elements int
	pieces   int
	tail     []byte // closing tags that replace the part that was cut
	end      int    // where it was cut; 0 if it was not
}

type element struct {
	name       string
	namespaces int // declared by it and its ancestors
}

// result returns the document up to the cut, with the end tags that it lacks there; all of it if
// it was not cut.
func (p *pruner) result() []byte {
	if p.end == 0 {
		return p.doc
	}
	return append(p.doc[:p.end:p.end], p.tail...)
}

func (p *pruner) readDocument() error {
	for next := 0; ; {
		i := bytes.IndexByte(p.doc[next:], '<')
		if i < 0 {
			return nil
		}
		p.at = next + i
		size, err := p.readMarkup(p.doc[p.at:])
		if err != nil {
			return err
		}
		next = p.at + size
	}
}

// readMarkup reads the markup that begins with '<', and returns its size. The size is above 0, so that run comes
// to an end.
func (p *pruner) readMarkup(m []byte) (int, error) {
	for _, piece := range []struct{ begin, end string }{{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}} {
		if !bytes.HasPrefix(m, []byte(piece.begin)) {
			continue
		}
		if p.pieces++; p.pieces > maxPieces {
			return 0, tooMany("more than %d comments or CDATA sections in a row", maxPieces)
		}
		i := bytes.Index(m[len(piece.begin):], []byte(piece.end))
		if i < 0 {
			return 0, fmt.Errorf("the feed ends within %s: %w", piece.begin, fault.ErrInvalid)
		}
		return len(piece.begin) + i + len(piece.end), nil
	}
	p.pieces = 0
	if bytes.HasPrefix(m, []byte("<!")) {
		return directive(m)
	}
	size := len(m)
	if i := bytes.IndexByte(m[1:], '<'); i >= 0 {
		size = i + 1 // no tag holds a '<', not even in quotes
	}
	if bytes.HasPrefix(m, []byte("</")) {
		p.closeTag(tagName(m[2:size]))
		return size, nil
	}
	return size, p.readStartTag(m[:size])
}

// directive accepts a DOCTYPE that refers to a document elsewhere, which is never fetched, and returns its size.
// It refuses one with declarations of its own, because these could grow when they are replaced.
func directive(m []byte) (int, error) {
	var quote byte
	for i, c := range m {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '[':
			return 0, fmt.Errorf("the feed declares entities or elements of its own, which is refused: %w", fault.ErrInvalid)
		case c == '>':
			return i + 1, nil
		}
	}
	return 0, fmt.Errorf("the feed ends within <!: %w", fault.ErrInvalid)
}

// readStartTag counts a start tag, and opens its element unless it is empty. Behind the cut, only items are
// counted.
func (p *pruner) readStartTag(m []byte) error {
	tag := m
	if i := tagEnd(m); i >= 0 {
		tag = m[:i]
	}
	e := element{name: tagName(m[1:]), namespaces: bytes.Count(tag, []byte("xmlns"))}
	if len(p.open) > 0 {
		e.namespaces += p.open[len(p.open)-1].namespaces
	}
	p.countItem(e.name)
	if p.end > 0 {
		return nil
	}
	p.elements++
	switch {
	case p.elements > maxElements:
		return tooMany("more than %d elements", maxElements)
	case len(p.open) >= maxDepth:
		return tooMany("elements nested deeper than %d", maxDepth)
	case len(tag) > maxTagBytes:
		return tooMany("a tag of more than %d bytes", maxTagBytes)
	case e.namespaces > maxNamespaces:
		return tooMany("more than %d namespaces around an element", maxNamespaces)
	}
	if !bytes.HasSuffix(tag, []byte("/")) {
		p.open = append(p.open, e)
	}
	return nil
}

// itemDepth is how many elements are open around an item at most: rss and channel.
const itemDepth = 2

// countItem counts the elements that the parser turns into items, and marks the cut before the first one too
// many. The tail then closes the elements that are open there. Elements within an item that have such a name are
// not items.
func (p *pruner) countItem(name string) {
	if local := localName(name); local != "item" && local != "entry" {
		return
	}
	if p.end == 0 && len(p.open) > itemDepth {
		return
	}
	p.seen++
	if p.seen <= p.items || p.end > 0 {
		return
	}
	p.end = p.at
	for i := len(p.open) - 1; i >= 0; i-- {
		p.tail = append(p.tail, "</"+p.open[i].name+">"...)
	}
}

// closeTag closes the innermost element of that name and all elements within it, as the
// lenient parser does.
func (p *pruner) closeTag(name string) {
	for i := len(p.open) - 1; i >= 0 && p.end == 0; i-- {
		if p.open[i].name == name {
			p.open = p.open[:i]
			return
		}
	}
}

// tagEnd returns the offset of a tag's final '>', skipping those in quoted values, which begin
// behind =, or -1.
func tagEnd(tag []byte) int {
	var quote, last byte
	for i, c := range tag {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && last == '=':
			quote = c
		case c == '>':
			return i
		}
		if c > ' ' {
			last = c
		}
	}
	return -1
}

// tagName returns the name that a tag begins with, at most maxTagName bytes of it.
func tagName(tag []byte) string {
	if i := bytes.IndexAny(tag, " \t\r\n/>"); i >= 0 {
		tag = tag[:i]
	}
	return string(tag[:min(len(tag), maxTagName)])
}

func localName(name string) string {
	return strings.ToLower(name[strings.LastIndexByte(name, ':')+1:])
}
