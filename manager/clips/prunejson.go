package clips

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"leasehold/shared/fault"
)

// pruneJSON is prune for a JSON Feed. It cuts behind the last item that stays, and closes the list and the feed
// there; members after the items are lost.
func pruneJSON(doc []byte, items int) (cut []byte, more int, err error) {
	if bytes.Count(doc, []byte("{")) > maxElements {
		return nil, 0, tooMany("more than %d objects", maxElements)
	}
	if bytes.Count(doc, []byte(",")) > maxCommas {
		return nil, 0, tooMany("more than %d members", maxCommas)
	}
	doc = bytes.TrimLeft(doc, "\ufeff \t\r\n")
	dec := json.NewDecoder(bytes.NewReader(doc))
	_, err = dec.Token() // the opening brace
	seen, end := 0, 0
	for err == nil && dec.More() {
		var key json.Token
		if key, err = dec.Token(); err != nil {
			break
		}
		name, _ := key.(string)
		if end == 0 && strings.EqualFold(name, "items") {
			seen, end, err = countItems(dec, items)
			continue
		}
		err = dec.Decode(&json.RawMessage{})
	}
	if err == nil {
		_, err = dec.Token()
	}
	switch {
	case err != nil && err != io.EOF:
		return nil, 0, fmt.Errorf("the feed is not well-formed JSON: %w: %w", err, fault.ErrInvalid)
	case err == io.EOF:
		return nil, 0, fmt.Errorf("the feed is cut off: %w", fault.ErrInvalid)
	case end == 0:
		return doc, 0, nil
	}
	return append(doc[:end:end], "]}"...), seen - items, nil
}

// countItems reads an array, and returns how many values it has and the offset behind the last value that stays,
// or 0 if all stay.
func countItems(dec *json.Decoder, most int) (seen, end int, err error) {
	open, err := dec.Token()
	if err != nil || open != json.Delim('[') {
		return 0, 0, fmt.Errorf("its items are not a list (%w)", fault.ErrInvalid)
	}
	var last int64
	for dec.More() {
		var item json.RawMessage
		if err := dec.Decode(&item); err != nil {
			return seen, 0, err
		}
		if seen++; seen == most {
			last = dec.InputOffset()
		}
	}
	if seen > most {
		end = int(last)
	}
	_, err = dec.Token()
	return seen, end, err
}
