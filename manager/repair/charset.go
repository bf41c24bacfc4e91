package repair

import (
	"bytes"
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// signatures are how documents begin that name their charset by their first bytes, the longest first.
var signatures = []struct {
	begin   string
	mark    int // bytes to leave out
	charset encoding.Encoding
}{
	{"\xff\xfe\x00\x00", 4, utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)},
	{"\x00\x00\xfe\xff", 4, utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)},
	{"<\x00\x00\x00", 0, utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)},
	{"\x00\x00\x00<", 0, utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)},
	{"\xff\xfe", 2, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
	{"\xfe\xff", 2, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
	{"<\x00", 0, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
	{"\x00<", 0, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
	{"{\x00", 0, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
	{"\x00{", 0, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
	{"\x4c\x6f\xa7\x94", 0, charmap.CodePage037}, // <?xm in EBCDIC
}

const utf8Mark = "\ufeff"

// toUTF8 returns a document as valid UTF-8. The charset is, in this order: that of its first bytes; UTF-8 if it is
// valid, because text in another charset is not; the declared one if it fits; a guess if it is unambiguous. Else
// bytes that do not fit become U+FFFD.
func toUTF8(doc []byte, contentType string, f *Faults) []byte {
	for _, s := range signatures {
		if bytes.HasPrefix(doc, []byte(s.begin)) {
			text, bad := decode(s.charset, doc[s.mark:])
			if bad > 0 {
				f.add("character that does not fit the charset", 0)
			}
			return text
		}
	}
	marked := bytes.HasPrefix(doc, []byte(utf8Mark))
	doc = bytes.TrimPrefix(doc, []byte(utf8Mark))
	labels := declared(doc, contentType)
	if utf8.Valid(doc) {
		return escaped7Bit(doc, labels)
	}
	sequences, bad := countSequences(doc)
	if marked || sequences >= bad {
		return repairFields(doc, f)
	}
	var best []byte
	fewest, name := len(doc), ""
	for _, label := range labels {
		charset := lookUp(label)
		if charset == nil || charset == encoding.Encoding(unicode.UTF8) {
			continue
		}
		if text, bad := decode(charset, doc); bad < fewest {
			best, fewest, name = text, bad, label
		}
		if fewest == 0 {
			return best
		}
	}
	if best != nil && fewest <= countHigh(doc)/20 {
		f.add("character that does not fit the charset "+name, 0)
		return best
	}
	if s := guess(doc); s != nil {
		f.add("charset that is not declared, read as "+s.name, 0)
		text, _ := decode(s.charset, doc)
		return text
	}
	return repairFields(doc, f)
}

// declaration finds the charset that an XML declaration names, also behind a comment.
var declaration = regexp.MustCompile(`<\?xml[^>]*?\sencoding\s*=\s*["']?\s*([A-Za-z0-9._:-]{1,40})`)

// declaredBytes is how far the declaration of the charset is looked for.
const declaredBytes = 1024

// declared returns the charsets that a document and its server name.
func declared(doc []byte, contentType string) (labels []string) {
	if found := declaration.FindSubmatch(doc[:min(len(doc), declaredBytes)]); found != nil {
		labels = append(labels, string(found[1]))
	}
	if _, parameters, err := mime.ParseMediaType(contentType); err == nil && parameters["charset"] != "" {
		labels = append(labels, parameters["charset"])
	}
	return labels
}

// lookUp returns the charset of a label, nil if it is unknown. A document that begins as ASCII is not UTF-16, so
// such a label is unknown.
func lookUp(label string) encoding.Encoding {
	label = strings.ToLower(strings.TrimSpace(label))
	if strings.HasPrefix(label, "utf-16") || strings.HasPrefix(label, "utf-32") || label == "replacement" {
		return nil
	}
	if charset, err := htmlindex.Get(label); err == nil {
		if charset == encoding.Replacement {
			return nil
		}
		return charset
	}
	charset, err := ianaindex.IANA.Encoding(label)
	if err != nil {
		return nil
	}
	return charset // nil for one that is registered and not supported
}

// escaped7Bit returns a document in ASCII as the charset reads it that the document names, if that writes its
// characters with escapes of ASCII (ISO-2022-JP, HZ). Any other document it returns unchanged.
func escaped7Bit(doc []byte, labels []string) []byte {
	for _, label := range labels {
		label = strings.ToLower(label)
		if !strings.HasPrefix(label, "iso-2022") && !strings.HasPrefix(label, "hz") {
			continue
		}
		if charset := lookUp(label); charset != nil && countHigh(doc) == 0 {
			text, _ := decode(charset, doc)
			return text
		}
	}
	return doc
}

// decode returns bytes of a charset as UTF-8, and how many of them do not fit.
func decode(charset encoding.Encoding, doc []byte) (text []byte, bad int) {
	text, err := charset.NewDecoder().Bytes(doc)
	if err != nil { // a decoder replaces what does not fit and has no other errors
		return nil, len(doc)
	}
	return text, bytes.Count(text, []byte("\ufffd"))
}

// countSequences returns how many characters of several bytes are UTF-8, and how many bytes are not.
func countSequences(doc []byte) (sequences, bad int) {
	for i := 0; i < len(doc); {
		r, size := utf8.DecodeRune(doc[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			bad++
		case size > 1:
			sequences++
		}
		i += size
	}
	return sequences, bad
}

// countHigh returns how many bytes are not ASCII.
func countHigh(doc []byte) (n int) {
	for _, c := range doc {
		if c >= utf8.RuneSelf {
			n++
		}
	}
	return n
}

// repairFields returns a document in UTF-8 with other bytes in it. A field or word that is wholly in another charset
// is read in that charset if the guess is unambiguous; other bytes become U+FFFD.
func repairFields(doc []byte, f *Faults) []byte {
	e := edits{doc: doc}
	left := maxGuessed
	for at := 0; at < len(doc); {
		end := fieldEnd(doc, at)
		if field := doc[at:end]; !utf8.Valid(field) {
			text, name := repairField(field, left > 0)
			left -= len(field) + 100 // each guess costs more than its bytes
			if name == "" {
				f.addAt("byte that is not UTF-8, now U+FFFD", doc, at)
			} else {
				f.addAt("field that is not UTF-8, read as "+name, doc, at)
			}
			e.replace(at, end, string(text))
		}
		at = end
	}
	return e.result()
}

// fieldEnd returns where the text or tag that begins at an offset ends.
func fieldEnd(doc []byte, at int) int {
	if i := bytes.IndexAny(doc[at+1:], "<>"); i >= 0 {
		return at + 1 + i
	}
	return len(doc)
}

// maxGuessed is how many bytes of fields are guessed at most, because a guess tries all charsets. Beyond it fields get
// U+FFFD.
const maxGuessed = 4 << 20

// repairField returns a field that is not UTF-8 as text, and the name of the charset in which it, or a word of it,
// was read; empty if none was certain.
func repairField(field []byte, mayGuess bool) (text []byte, name string) {
	sequences, _ := countSequences(field)
	switch {
	case !mayGuess:
	case sequences == 0:
		if s := guess(field); s != nil {
			text, _ := decode(s.charset, field)
			return text, s.name
		}
	default:
		field, name = repairWords(field)
	}
	return bytes.ToValidUTF8(field, []byte("\ufffd")), name
}

// repairWords reads the words of a field in UTF-8 that are in a Latin charset, because two programs wrote it. In other
// scripts one word is too short to be certain.
func repairWords(field []byte) (text []byte, name string) {
	e := edits{doc: field}
	for at := 0; at < len(field); {
		size := bytes.IndexAny(field[at:], " \t\r\n")
		if size < 0 {
			size = len(field) - at
		}
		word := field[at : at+size]
		if sequences, bad := countSequences(word); bad > 0 && sequences == 0 {
			if s := guess(word); s != nil && s.latin {
				read, _ := decode(s.charset, word)
				e.replace(at, at+size, string(read))
				name = s.name
			}
		}
		at += size + 1
	}
	return e.result(), name
}
