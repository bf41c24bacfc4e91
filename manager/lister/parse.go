package lister

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/mail"
	"net/url"
	"strings"
	"unicode/utf8"

	"leasehold/manager/repair"
	"leasehold/models"
	"leasehold/shared/fault"
)

// maxDepth is the maximum nesting of outlines.
const maxDepth = 64

// parseOPML lists the feeds of an OPML document, the outlines with an xmlUrl, and returns what it repaired first.
// contentType is the header of its server, or empty. A document that is cut off is refused, because feeds that a
// list names no more are not visited.
func parseOPML(content []byte, contentType string) ([]models.ListedOrigin, repair.Faults, error) {
	content, faults, err := repair.Document(content, contentType, documentBytes)
	if err != nil {
		return nil, faults, err
	}
	list, err := outlines(content)
	switch {
	case err != nil && faults.Any():
		err = fmt.Errorf("%w (after repairs: %s)", err, faults)
	case err == nil && faults.CutOff():
		err = fmt.Errorf("the OPML document is cut off: %w", fault.ErrInvalid)
	}
	if err != nil {
		return nil, faults, err
	}
	return list, faults, nil
}

// outlines lists the feeds of a repaired OPML document.
func outlines(content []byte) ([]models.ListedOrigin, error) {
	d := xml.NewDecoder(bytes.NewReader(content))
	d.CharsetReader = func(charset string, _ io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("charset %.20q: UTF-8 is accepted", charset)
	}
	var named names
	for depth, first := 0, true; ; {
		t, err := d.Token()
		if errors.Is(err, io.EOF) && first {
			return nil, fmt.Errorf("not OPML: it is empty: %w", fault.ErrInvalid)
		}
		if errors.Is(err, io.EOF) {
			return named.list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("not OPML: %w: %w", err, fault.ErrInvalid)
		}
		switch t := t.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return nil, fmt.Errorf("not OPML: nested deeper than %d: %w", maxDepth, fault.ErrInvalid)
			}
			if first && t.Name.Local != "opml" {
				return nil, fmt.Errorf("not OPML: it begins with <%.40s>: %w", t.Name.Local, fault.ErrInvalid)
			}
			first = false
			if t.Name.Local == "outline" {
				named.add(outline(t.Attr))
			}
		case xml.EndElement:
			depth--
		}
	}
}

// outline returns the feed of an outline, and when it was added to the list, if that date can be
// read.
func outline(attributes []xml.Attr) (n models.ListedOrigin) {
	n.Kind = models.Feed
	for _, a := range attributes {
		switch strings.ToLower(a.Name.Local) {
		case "xmlurl":
			n.URI = a.Value
		case "created":
			if at, err := mail.ParseDate(a.Value); err == nil {
				n.Created = at.UTC()
			}
		}
	}
	return n
}

// parseURLs lists the URLs of a text file, and returns the numbers of the lines that are something else. It fails
// if half of the lines or more are something else, because the file is then probably not a list. Lines are not
// quoted, because they may hold passwords.
func parseURLs(content []byte) (list []models.ListedOrigin, skipped []int, err error) {
	if !utf8.Valid(content) {
		return nil, nil, fmt.Errorf("not a text in UTF-8: %w", fault.ErrInvalid)
	}
	var named names
	good := 0
	n := 0
	for line := range strings.Lines(string(content)) {
		n++
		line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if named.seen[line] {
			good++
			continue
		}
		if !models.IsWebURL(line) {
			skipped = append(skipped, n)
			continue
		}
		good++
		kind := models.Feed
		if u, err := url.Parse(line); err == nil && models.KindOfURL(u.Path).Info().Listable {
			kind = models.KindOfURL(u.Path)
		}
		named.addValid(models.ListedOrigin{Kind: kind, URI: line})
	}
	if len(skipped) > 0 && len(skipped) >= good {
		return nil, nil, fmt.Errorf("line %d and %d more of %d lines: want an http(s) URL on each line: %w",
			skipped[0], len(skipped)-1, len(skipped)+good, fault.ErrInvalid)
	}
	return named.list, skipped, nil
}

// names collects origins without duplicates.
type names struct {
	list []models.ListedOrigin
	seen map[string]bool
}

// add adds an origin, unless its URL is not one of the web, is there already, or the list is
// full.
func (n *names) add(o models.ListedOrigin) {
	if models.IsWebURL(o.URI) {
		n.addValid(o)
	}
}

// addValid is add for an origin whose URL is one of the web.
func (n *names) addValid(o models.ListedOrigin) {
	if n.seen[o.URI] || len(n.list) > maxNames {
		return
	}
	if n.seen == nil {
		n.seen = map[string]bool{}
	}
	n.seen[o.URI] = true
	n.list = append(n.list, o)
}
