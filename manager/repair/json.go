package repair

import "fmt"

// repairJSON escapes the control characters in strings, which JSON does not allow there, drops those elsewhere and
// commas behind the last value, and ends a document that is cut off behind its last whole item.
func repairJSON(doc []byte, f *Faults) []byte {
	if end := lastItem(doc); end > 0 {
		f.addAt("end of the feed missing", doc, len(doc))
		doc = append(doc[:end:end], "]}"...)
	}
	return dropCommas(escapeControls(doc, f), f)
}

// escapeControls escapes the control characters in strings, and drops the others.
func escapeControls(doc []byte, f *Faults) []byte {
	e := edits{doc: doc}
	quoted, escaped := false, false
	for i, c := range doc {
		switch {
		case c < 0x20 && quoted:
			f.addAt("control character", doc, i)
			escape := fmt.Sprintf("\\u%04x", c)
			if escaped { // by a backslash that is there already
				escape = escape[1:]
			}
			e.replace(i, i+1, escape)
		case c < 0x20 && !allowed(rune(c)):
			f.addAt("control character", doc, i)
			e.replace(i, i+1, " ")
		case c == '"' && !escaped:
			quoted = !quoted
		}
		escaped = quoted && c == '\\' && !escaped
	}
	return e.result()
}

// dropCommas drops commas behind the last value of a list or object.
func dropCommas(doc []byte, f *Faults) []byte {
	e := edits{doc: doc}
	quoted, escaped, comma := false, false, -1
	for i, c := range doc {
		switch {
		case c == '"' && !escaped:
			quoted = !quoted
		case (c == ']' || c == '}') && !quoted && comma >= 0:
			f.addAt("comma behind the last value", doc, comma)
			e.replace(comma, comma+1, "")
		}
		if c == ',' && !quoted {
			comma = i
		} else if !isSpace(c) {
			comma = -1
		}
		escaped = quoted && c == '\\' && !escaped
	}
	return e.result()
}

// lastItem returns where the last whole item of a document ends that is cut off, 0 if the document has its end or no
// whole item. Items are the objects in a list of the outermost object.
func lastItem(doc []byte) (end int) {
	quoted, escaped := false, false
	var open []byte
	for i, c := range doc {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			open = append(open, c)
			if len(open) > maxOpen {
				return 0
			}
		case (c == '}' || c == ']') && len(open) > 0:
			open = open[:len(open)-1]
			if c == '}' && string(open) == "{[" {
				end = i + 1
			} else if len(open) == 0 {
				return 0
			}
		}
	}
	return end
}
