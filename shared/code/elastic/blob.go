package elastic

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"leasehold/shared/code"
	"leasehold/shared/code/segment"
	"leasehold/shared/fault"
)

// blob is the document of a blob.
type blob struct {
	OID       code.OID `json:"oid"`
	Put       int64    `json:"put"` // milliseconds since 1970
	Size      int64    `json:"size"`
	Lang      string   `json:"lang"` // folded
	Skipped   string   `json:"skipped,omitempty"`
	Tri       string   `json:"tri,omitempty"`        // trigrams of the content
	SymbolTri string   `json:"symbol_tri,omitempty"` // trigrams of Defines
	Defines   []string `json:"defines,omitempty"`    // names of symbols

	Info code.BlobInfo `json:"info"`
	// The content is Text or, if it is not UTF-8, Raw.
	Text      string                `json:"text,omitempty"`
	Raw       []byte                `json:"raw,omitempty"`
	Symbols   []code.Symbol         `json:"symbols,omitempty"`
	Functions []code.FunctionReport `json:"functions,omitempty"`
}

// content returns the text of a blob.
func (b *blob) content() []byte {
	if len(b.Raw) > 0 {
		return b.Raw
	}
	return []byte(b.Text)
}

// newBlob returns the document of a blob.
func (x *Index) newBlob(from code.Blob) (*blob, error) {
	t := x.trigrams.Get().(*segment.Trigrams)
	defer x.trigrams.Put(t)
	from, err := segment.Kept(from, t)
	if err != nil {
		return nil, err
	}
	b := &blob{OID: from.OID, Put: time.Now().UnixMilli(), Size: from.Size, Lang: fold(from.Lang), Skipped: from.Skipped,
		Info: from.BlobInfo, Symbols: from.Symbols, Functions: from.Functions}
	if utf8.Valid(from.Content) {
		b.Text = string(from.Content)
	} else {
		b.Raw = from.Content
	}
	for _, s := range from.Symbols {
		b.Defines = append(b.Defines, s.Name)
	}
	slices.Sort(b.Defines)
	b.Defines = slices.Compact(b.Defines)
	b.setTrigrams(t)
	return b, nil
}

// setTrigrams sets the fields of trigrams, which documents do not return.
func (b *blob) setTrigrams(t *segment.Trigrams) {
	b.Tri = terms(t.Of(b.content()))
	b.SymbolTri = terms(t.Of([]byte(strings.Join(b.Defines, "\n"))))
}

// fold returns text after code.Fold as valid UTF-8, because documents are JSON.
func fold(text string) string {
	folded, _ := code.Fold(nil, []byte(text))
	return strings.ToValidUTF8(string(folded), "\uFFFD")
}

// term returns how fields of trigrams write one: three bytes as four letters, because they
// may be white space or a part of a character.
func term(trigram uint32) string {
	return base64.RawURLEncoding.EncodeToString([]byte{byte(trigram >> 16), byte(trigram >> 8), byte(trigram)})
}

// terms returns the value of a field of trigrams.
func terms(trigrams []uint32) string {
	var b strings.Builder
	b.Grow(5 * len(trigrams))
	for _, t := range trigrams {
		b.WriteString(term(t))
		b.WriteByte(' ')
	}
	return b.String()
}

// idsAtOnce is how many documents one request reads by their ids.
const idsAtOnce = 1000

// textsAtOnce is how many bytes of texts one request reads, unless one text is longer.
const textsAtOnce = 8 << 20

// inGroups yields elements in their order, in groups for one request each: at most idsAtOnce with at most textsAtOnce
// bytes of text, or one with a longer text.
func inGroups[T any](all []T, size func(T) int64) func(yield func([]T) bool) {
	return func(yield func([]T) bool) {
		for len(all) > 0 {
			n, sum := 0, int64(0)
			for n < min(len(all), idsAtOnce) && (n == 0 || sum+size(all[n]) <= textsAtOnce) {
				sum += size(all[n])
				n++
			}
			if !yield(all[:n]) {
				return
			}
			all = all[n:]
		}
	}
}

// eachBlob calls visit for each of ids, in their order, with the fields of its document, or with
// nil if the server does not have it. fields are separated by commas; "" reads none, which
// suffices to know whether documents exist. It sees documents that are written and not yet
// refreshed. It returns the first error of visit.
func (x *Index) eachBlob(ctx context.Context, ids []code.OID, fields string, visit func(code.OID, *blob) error) error {
	for part := range slices.Chunk(ids, idsAtOnce) {
		found, err := readMany[blob](ctx, x, blobs, asStrings(part), fields)
		if err != nil {
			return err
		}
		for i, b := range found {
			if err := visit(part[i], b); err != nil {
				return err
			}
		}
	}
	return nil
}

// asStrings returns the values as strings.
func asStrings[T ~string](all []T) []string {
	texts := make([]string, len(all))
	for i, s := range all {
		texts[i] = string(s)
	}
	return texts
}

// wholeDocument stands for all fields of a document. A server sends those as they were written, without parsing
// them, which takes a quarter of the time of some fields.
const wholeDocument = "*"

// readMany returns the documents with these ids, in their order; nil for each that does not exist.
// fields are separated by commas, or wholeDocument; if they are "", those that exist are empty.
func readMany[T any](ctx context.Context, x *Index, alias string, ids []string, fields string) ([]*T, error) {
	query := url.Values{"_source_includes": {fields}}
	switch fields {
	case "":
		query = url.Values{"_source": {"false"}}
	case wholeDocument:
		query = nil
	}
	var answer struct {
		Docs []struct {
			ID     string  `json:"_id"`
			Found  bool    `json:"found"`
			Source *T      `json:"_source"`
			Error  failure `json:"error"`
		} `json:"docs"`
	}
	if err := x.post(ctx, alias, "_mget", query, object{"ids": ids}, &answer); err != nil {
		return nil, err
	}
	if len(answer.Docs) != len(ids) {
		return nil, fmt.Errorf("%s: %w: the answer of the search server has %d of %d documents", alias, fault.ErrUnavailable, len(answer.Docs), len(ids))
	}
	found := make([]*T, len(ids))
	for i, d := range answer.Docs {
		switch {
		case d.Error.Type == indexNotFound:
			return nil, x.noteDeleted(&statusError{status: http.StatusNotFound, kind: fault.ErrNotFound, what: alias, text: d.Error.String()})
		case d.Error.Type != "":
			return nil, fmt.Errorf("document %s of %s: %w: %s", ids[i], alias, fault.ErrUnavailable, d.Error)
		case d.ID != ids[i]:
			return nil, fmt.Errorf("document %s of %s: %w: the answer of the search server has %.100q in its place", ids[i], alias, fault.ErrUnavailable, d.ID)
		case d.Found && d.Source != nil:
			found[i] = d.Source
		case d.Found: // no field was asked for
			found[i] = new(T)
		}
	}
	return found, nil
}
