package repair

import (
	"html"
	"slices"
	"strings"
)

// rewrite writes a start tag again if the parser would refuse it, if it has an xml:base, or if one applies to its
// URLs. In place of the rdf:about of an item it puts a guid; a guid of the item comes later, and counts.
func (m *repairer) rewrite(at int, t tag, e *element) {
	if len(t.attributes) == 0 && !t.bad {
		return
	}
	var guid string
	again := t.bad
	if t.bad {
		m.faults.addAt("badly written tag", m.doc, at)
	}
	for _, a := range t.attributes {
		switch name := strings.ToLower(a.name); {
		case name == "xml:base":
			e.base = resolveBase(e.base, plain(a.value))
			again = true
		case isAbout(t, name):
			guid = "<guid>" + escape(plain(a.value)) + "</guid>"
			again = true
		}
	}
	var b strings.Builder
	b.WriteString("<" + t.name)
	for _, a := range t.attributes {
		if name := strings.ToLower(a.name); name == "xml:base" || isAbout(t, name) {
			continue
		}
		value := plain(a.value)
		if isURL(a.name) && e.base != nil {
			value, again = resolve(e.base, value), true
		}
		name := a.name
		if lower := strings.ToLower(name); lower != name && slices.Contains(parsed, lower) {
			name, again = lower, true
		}
		b.WriteString(" " + name + `="` + escape(value) + `"`)
		again = again || m.hasFault(at, a)
	}
	if t.empty {
		b.WriteString("/")
	}
	b.WriteString(">" + guid)
	if again {
		m.replace(at, at+t.size, b.String())
	}
}

// parsed are attributes that the parser reads only in lower case.
var parsed = []string{"url", "type", "length", "href", "rel"}

// isAbout reports whether an attribute, in lower case, is the id of an item of RSS 1.0 with content.
func isAbout(t tag, name string) bool {
	return !t.empty && strings.EqualFold(t.name, "item") && strings.HasSuffix(name, ":about")
}

// hasFault reports whether the value of an attribute has a reference that the parser does not read, and notes it.
func (m *repairer) hasFault(at int, a attribute) (found bool) {
	for i, c := range a.value {
		if c != '&' {
			continue
		}
		_, size, kind := reference(a.value[i:])
		if kind != "" {
			m.faults.addAt(kind, m.doc, at)
		}
		found = found || size > 0
	}
	return found
}

// plain returns the value of an attribute without references. One that begins no reference stays.
func plain(value []byte) string {
	if !slices.Contains(value, '&') {
		return string(value)
	}
	e := edits{doc: value}
	for i, c := range value {
		if c != '&' {
			continue
		}
		if text, size, _ := reference(value[i:]); size > 0 {
			e.replace(i, i+size, text)
		}
	}
	return html.UnescapeString(string(e.result()))
}
