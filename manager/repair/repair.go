package repair

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"leasehold/shared/fault"
)

// Document returns a feed's document as UTF-8 that begins with its root element or, of a JSON Feed, its object,
// and the repairs. contentType is the header of its server, empty if there is none. The result has at
// most maxBytes; beyond that Document fails with fault.ErrTooLarge. doc is not changed.
func Document(doc []byte, contentType string, maxBytes int) ([]byte, Faults, error) {
	var f Faults
	for range maxZips {
		var err error
		if doc, err = unzip(doc, maxBytes, &f); err != nil {
			return nil, f, err
		}
	}
	doc = toUTF8(doc, contentType, &f)
	if isObject(doc) {
		doc = repairJSON(bytes.TrimLeft(doc, " \t\r\n"), &f)
	} else {
		doc = repairXML(dropCharacters(doc, &f), maxBytes, &f)
	}
	if len(doc) > maxBytes {
		return nil, f, tooLarge(maxBytes)
	}
	return doc, f, nil
}

// maxZips is how often a document may be compressed.
const maxZips = 2

func tooLarge(maxBytes int) error {
	return fmt.Errorf("more than the %d bytes allowed: %w", maxBytes, fault.ErrTooLarge)
}

// isObject reports whether a document is JSON, and not XML.
func isObject(doc []byte) bool {
	doc = bytes.TrimLeft(doc, " \t\r\n")
	return len(doc) > 0 && doc[0] == '{'
}

// unzip returns the content of a gzip file, up to where it is damaged or cut off, or doc itself if it is none.
func unzip(doc []byte, maxBytes int, f *Faults) ([]byte, error) {
	if !bytes.HasPrefix(doc, []byte{0x1f, 0x8b, 8}) {
		return doc, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(doc))
	if err != nil {
		return doc, nil
	}
	content, err := io.ReadAll(io.LimitReader(z, int64(maxBytes)+1))
	switch {
	case len(content) > maxBytes:
		return nil, tooLarge(maxBytes)
	case errors.Is(err, io.ErrUnexpectedEOF):
		f.add(zipEndMissing, 0)
	case err != nil:
		f.add(zipDamaged, 0)
	}
	return content, nil
}

// A count is how often one kind of fault was repaired.
type count struct {
	kind  string
	times int
	line  int // of the first, from 1; 0: it concerns the whole document
}

// Faults counts the repairs of a document. The zero Faults has none.
type Faults struct{ list []count }

// add counts a fault of a kind, which was found in a line.
func (f *Faults) add(kind string, line int) {
	if !f.has(kind) {
		f.list = append(f.list, count{kind, 0, line})
	}
	for i := range f.list {
		if f.list[i].kind == kind {
			f.list[i].times++
		}
	}
}

func (f *Faults) has(kind string) bool {
	for _, known := range f.list {
		if known.kind == kind {
			return true
		}
	}
	return false
}

// addAt is add for an offset of a document. Only the first of a kind needs its line, so few are counted.
func (f *Faults) addAt(kind string, doc []byte, at int) {
	line := 0
	if !f.has(kind) {
		line = 1 + bytes.Count(doc[:at], []byte("\n"))
	}
	f.add(kind, line)
}

// The kinds of faults that cost the rest of a document, and not a field only.
const (
	endMissing    = "end of the feed missing"
	zipEndMissing = "end of the gzip file missing"
	zipDamaged    = "damaged part of a gzip file"
)

// CutOff reports whether the end of the document is missing.
func (f Faults) CutOff() bool { return f.has(endMissing) || f.has(zipEndMissing) || f.has(zipDamaged) }

// Any reports whether anything was repaired.
func (f Faults) Any() bool { return len(f.list) > 0 }

// String lists the kinds with their numbers, for people: `3 × bare "&" (the first in line 7)`. It is empty without a
// fault.
func (f Faults) String() string {
	var all []string
	for _, x := range f.list {
		s := x.kind
		if x.times > 1 {
			s = fmt.Sprintf("%d × %s", x.times, s)
		}
		if x.line > 0 && x.times > 1 {
			s += fmt.Sprintf(" (the first in line %d)", x.line)
		} else if x.line > 0 {
			s += fmt.Sprintf(" (line %d)", x.line)
		}
		all = append(all, s)
	}
	return strings.Join(all, "; ")
}
