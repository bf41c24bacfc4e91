package repair

import (
	"bytes"
	"strings"
)

// rootBytes is how far the root element is looked for behind other elements, such as the warnings of a program.
const rootBytes = 64 << 10

// findRoot returns where the root element of a feed begins, -1 without one. The part before it is
// left out: declarations, whose entities are not expanded, comments and text.
func findRoot(s *scanner, tags *tagReader, f *Faults) int {
	doc := s.doc
	text := false // something before the root that does not belong there
	for at := 0; ; {
		i := bytes.IndexByte(doc[at:], '<')
		if i < 0 {
			return -1
		}
		text = text || len(bytes.Trim(doc[at:at+i], utf8Mark+" \t\r\n")) > 0
		at += i
		if size := s.declaration(at); size > 0 {
			if bytes.HasPrefix(doc[at:], []byte("<!DOCTYPE")) && bytes.IndexByte(doc[at:at+size], '[') >= 0 {
				f.addAt("DOCTYPE with declarations, which are ignored", doc, at)
			}
			at += size
			continue
		}
		t, ok := tags.read(doc[at:])
		switch name := strings.ToLower(t.name); {
		case ok && isRoot(name):
			if text {
				f.addAt("text before the feed", doc, at)
			}
			return at
		case ok && name == "html", at > rootBytes:
			return -1
		case ok:
			at += t.size
		default:
			at++
		}
		text = true
	}
}

// isRoot reports whether an element is the root of a feed or of OPML, or a channel that lacks it.
func isRoot(name string) bool {
	_, local, found := strings.Cut(name, ":")
	if !found {
		local = name
	}
	return local == "rss" || local == "rdf" || local == "feed" || name == "opml" || name == "channel"
}

// A scanner finds the ends of comments, instructions, CDATA sections and declarations. It goes through a document
// forwards, and remembers what it found, so that a document without such ends is not read again for each beginning.
type scanner struct {
	doc    []byte
	next   map[string]int // where each end was found last; -1: there is none any more
	broken bool           // a declaration had no end
}

// find returns where a text is found from an offset on, or -1. The offset must not be below the one of the call
// before.
func (s *scanner) find(text string, from int) int {
	at, known := s.next[text]
	if known && (at < 0 || at >= from) {
		return at
	}
	at = bytes.Index(s.doc[from:], []byte(text))
	if at >= 0 {
		at += from
	}
	s.next[text] = at
	return at
}

// declaration returns the size of the comment, instruction or declaration at an offset, 0 if there is none.
func (s *scanner) declaration(at int) int {
	switch m := s.doc[at:]; {
	case bytes.HasPrefix(m, []byte("<!--")):
		size, _ := s.comment(at)
		return size
	case bytes.HasPrefix(m, []byte("<?")):
		size, _ := s.instruction(at)
		return size
	case bytes.HasPrefix(m, []byte("<!")):
		return s.doctype(at)
	}
	return 0
}

// comment returns the size of the comment at an offset, and whether it is well-formed. One without an end ends with
// its first '>'.
func (s *scanner) comment(at int) (size int, ok bool) {
	inner := at + len("<!--")
	end := s.find("-->", inner)
	if end < 0 {
		return s.untilGreater(at), false
	}
	return end + len("-->") - at, !bytes.Contains(s.doc[inner:end+1], []byte("--"))
}

// instruction returns the size of the processing instruction at an offset, and whether it has an end. One without
// ends with its first '>'.
func (s *scanner) instruction(at int) (size int, ok bool) {
	if end := s.find("?>", at); end >= 0 {
		return end + 2 - at, true
	}
	return s.untilGreater(at), false
}

func (s *scanner) untilGreater(at int) int {
	if i := bytes.IndexByte(s.doc[at:], '>'); i >= 0 {
		return i + 1
	}
	return len(s.doc) - at
}

// doctype returns the size of the declaration at an offset, with all that are in it. If its brackets or quotes do not
// end, it and those behind it end with their first '>'.
func (s *scanner) doctype(at int) int {
	var quote byte
	depth := 0 // of < and [
	for i := at; i < len(s.doc) && !s.broken; i++ {
		c := s.doc[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case bytes.HasPrefix(s.doc[i:], []byte("<!--")):
			size, _ := s.comment(i)
			i += size - 1
		case c == '"' || c == '\'':
			quote = c
		case c == '<' || c == '[':
			depth++
		case c == ']':
			depth--
		case c == '>':
			depth--
			if depth <= 0 {
				return i + 1 - at
			}
		}
	}
	s.broken = true
	return s.untilGreater(at)
}
